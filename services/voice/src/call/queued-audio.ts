import type { PassingTime } from "@parley/shared/shares/passing-time";
import { SAMPLES_PER_SECOND } from "../audio/pcm.ts";
import type { Leg } from "../transport/leg.ts";

/** Audio that every call may have queued: more than the agent says between two interruptions, and 1 MB. */
export const AHEAD_SAMPLES = 30 * SAMPLES_PER_SECOND;
/** Audio that the calls of an owner have queued in a process beyond which each has only AHEAD_SAMPLES: 17 minutes, 32 MiB. */
const OWNER_SAMPLES_MAX = 16 * 1024 * 1024;
/** How often to look again: the queue empties as it is played, but not while the call is on hold. */
const LOOK_MS = 500;

/** The audio that calls have queued, which speech providers may send much faster than it is played. */
export interface QueuedAudio {
  /**
   * The leg of an owner's call. Audio beyond AHEAD_SAMPLES is dropped if the owner's calls have too much queued already.
   * @param over aborted once the call is over
   */
  shared(ownerId: string, leg: Leg, over: AbortSignal): Leg;
}

export function queuedAudio(ownerSamplesMax = OWNER_SAMPLES_MAX): QueuedAudio {
  const legs = new Map<string, Set<Leg>>();
  const queuedBy = (ownerId: string) => {
    let samples = 0;
    for (const leg of legs.get(ownerId) ?? []) samples += leg.queuedSamples();
    return samples;
  };

  return {
    shared: (ownerId, leg, over) => {
      if (over.aborted) return leg;
      const ofOwner = legs.get(ownerId) ?? new Set();
      legs.set(ownerId, ofOwner.add(leg));
      const leave = () => {
        ofOwner.delete(leg);
        if (ofOwner.size === 0 && legs.get(ownerId) === ofOwner) legs.delete(ownerId);
      };
      over.addEventListener("abort", leave, { once: true });
      return {
        ...leg,
        play: (audio) => {
          const ahead = AHEAD_SAMPLES - leg.queuedSamples();
          if (audio.length <= ahead) return leg.play(audio);
          leg.play(audio.subarray(0, Math.max(0, ahead, ownerSamplesMax - queuedBy(ownerId))));
        },
      };
    },
  };
}

/** Waits until a leg has less than AHEAD_SAMPLES queued, or the signal aborts. @returns null if it has */
export function roomOn(leg: Pick<Leg, "queuedSamples">, clock: PassingTime, signal: AbortSignal): Promise<void> | null {
  if (leg.queuedSamples() < AHEAD_SAMPLES || signal.aborted) return null;
  return new Promise((resolve) => {
    let stop = () => {};
    const leave = () => {
      stop();
      signal.removeEventListener("abort", leave);
      resolve();
    };
    const look = () => {
      if (leg.queuedSamples() < AHEAD_SAMPLES) return leave();
      stop = clock.after(LOOK_MS, look);
    };
    signal.addEventListener("abort", leave);
    look();
  });
}
