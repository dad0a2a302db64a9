import { framer } from "../audio/frames.ts";
import { FRAME_MS, FRAME_SAMPLES, type Pcm, SAMPLES_PER_SECOND } from "../audio/pcm.ts";
import type { LegListener } from "./leg.ts";

/** What the other party says, cut into frames. */
interface IncomingAudio {
  /** Something arrived that may yield audio later. */
  arrived(): void;
  /** Hears audio, unless it runs ahead of real time. */
  hear(audio: Pcm): void;
  /**
   * Hears silence for audio that will not come, less what was heard while nothing arrived. No more than half of what a peer may be ahead
   * of real time, and none beyond it, because a gap costs its sender nothing and must not use up the room of its audio.
   */
  lost(samples: number): void;
  /** The next audio is this much after the last: so much of what was heard while nothing arrived is accounted for. */
  continued(samples: number): void;
  /** Hears silence while nothing arrives. Called every 20 ms. */
  fillSilence(): void;
  /** Milliseconds since something arrived, or since the beginning. */
  unheardMs(): number;
}

interface IncomingAudioOptions {
  /** How far the peer may be ahead of real time, as after network congestion. */
  aheadMaxSamples: number;
  /** Counts audio that is not used. */
  dropped(reason: "too_much"): void;
  /** Milliseconds; absent: since the process began. */
  now?(): number;
}

/** Until this long without a packet, nothing counts as lost: the next one is only late. */
const LATE_MAX_MS = 80;
/** Audio that arrived at once covers the time after it, as far as a bad network's delays vary. Beyond it, silence is heard while nothing arrives. */
const COVERED_MAX_MS = 400;
/** How much faster than ours the peer's clock may be. */
const DRIFT = 1.05;

export function incomingAudio(options: IncomingAudioOptions, to: Pick<LegListener, "heard">): IncomingAudio {
  const { aheadMaxSamples, now: clock = () => performance.now() } = options;
  const cut = framer((frame) => to.heard(frame));
  let arrivedAt = clock();
  /** When what was heard so far ends, if it is played as it arrives. */
  let coveredUntil = arrivedAt;
  /** Silence that was heard for audio that may still come late, or not. */
  let filled = 0;
  let credit = aheadMaxSamples;
  let creditAt = arrivedAt;

  const refill = () => {
    const now = clock();
    credit = Math.min(aheadMaxSamples, credit + ((now - creditAt) / 1_000) * SAMPLES_PER_SECOND * DRIFT);
    creditAt = now;
  };

  const isAffordable = (samples: number) => {
    refill();
    if (samples > credit) return false;
    credit -= samples;
    return true;
  };

  const hear = (audio: Pcm) => {
    const now = clock();
    coveredUntil = Math.min(
      now + COVERED_MAX_MS,
      Math.max(now, coveredUntil) + (audio.length / SAMPLES_PER_SECOND) * 1_000,
    );
    cut(audio);
  };

  const accountFor = (samples: number) => {
    const accounted = Math.min(samples, filled);
    filled -= accounted;
    return accounted;
  };

  return {
    arrived: () => {
      arrivedAt = clock();
    },
    hear: (audio) => (isAffordable(audio.length) ? hear(audio) : options.dropped("too_much")),
    lost: (samples) => {
      const missing = samples - accountFor(samples);
      refill();
      const affordable = Math.max(0, Math.min(missing, Math.floor(credit - aheadMaxSamples / 2)));
      credit -= affordable;
      hear(new Int16Array(affordable));
    },
    continued: (samples) => {
      accountFor(samples);
      // After a pause, what was heard before it covers no time.
      if (samples > 0) coveredUntil = Math.min(coveredUntil, clock());
    },
    fillSilence: () => {
      const now = clock();
      if (now - arrivedAt <= LATE_MAX_MS || now <= coveredUntil) return;
      // Whole frames, so that what follows is cut as if it had not been late.
      const frames = Math.floor((now - coveredUntil) / FRAME_MS);
      coveredUntil += frames * FRAME_MS;
      // As much as time has passed, so this needs no credit.
      const silence = Math.min(frames * FRAME_SAMPLES, aheadMaxSamples);
      filled += silence;
      cut(new Int16Array(silence));
    },
    unheardMs: () => clock() - arrivedAt,
  };
}
