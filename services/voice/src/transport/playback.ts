import { FRAME_SAMPLES, type Pcm } from "../audio/pcm.ts";

/** What a leg that paces by itself still has to play. */
export interface Playback {
  play(audio: Pcm): void;
  clear(): void;
  mark(name: string): void;
  /** The next frame and the marks that are reached once it is heard; null if nothing is queued. The end of the audio is padded with silence. */
  nextFrame(): { frame: Pcm; reached: string[] } | null;
  /** Samples taken by `nextFrame`, without padding. */
  heardSamples(): number;
  queuedSamples(): number;
}

/**
 * Audio that is queued at most; more is dropped. A reply is cut off long before, and a speech provider that sends without end must not
 * fill the memory.
 */
const QUEUED_MAX_SAMPLES = 16_000 * 600;

export function playback(): Playback {
  let queue: (Pcm | string)[] = [];
  let queued = 0;
  let heard = 0;

  const reachedAtFront = () => {
    const audioAt = queue.findIndex((entry) => typeof entry !== "string");
    return queue.splice(0, audioAt < 0 ? queue.length : audioAt) as string[];
  };

  return {
    play: (audio) => {
      const room = audio.subarray(0, QUEUED_MAX_SAMPLES - queued);
      if (room.length === 0) return;
      queue.push(room);
      queued += room.length;
    },
    clear: () => {
      queue = [];
      queued = 0;
    },
    mark: (name) => void queue.push(name),
    nextFrame: () => {
      if (queue.length === 0) return null;
      const frame = new Int16Array(FRAME_SAMPLES);
      const reached: string[] = reachedAtFront();
      let filled = 0;
      while (filled < FRAME_SAMPLES && queue.length > 0) {
        const audio = queue[0] as Pcm;
        const part = audio.subarray(0, FRAME_SAMPLES - filled);
        frame.set(part, filled);
        filled += part.length;
        if (part.length < audio.length) queue[0] = audio.subarray(part.length);
        else queue.shift();
        reached.push(...reachedAtFront());
      }
      queued -= filled;
      heard += filled;
      return { frame, reached };
    },
    heardSamples: () => heard,
    queuedSamples: () => queued,
  };
}
