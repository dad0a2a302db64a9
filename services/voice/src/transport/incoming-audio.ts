import { framer } from "../audio/frames.ts";
import { type Pcm, SAMPLES_PER_SECOND } from "../audio/pcm.ts";
import type { LegListener } from "./leg.ts";

/** What the other party says, cut into frames. */
export interface IncomingAudio {
  /** Something arrived that may yield audio later. */
  arrived(): void;
  /** Hears audio, unless it runs ahead of real time. */
  hear(audio: Pcm): void;
  /** Hears silence for audio that will not come, unless it runs ahead of real time: a gap costs its sender nothing. */
  lost(samples: number): void;
  /** Hears silence while nothing arrives. Called every 20 ms. */
  fillSilence(): void;
  /** Milliseconds since something arrived, or since the beginning. */
  unheardMs(): number;
}

export interface IncomingAudioOptions {
  /** How far the peer may be ahead of real time, as after network congestion. */
  aheadMaxSamples: number;
  /** Counts audio that is not used. */
  dropped(reason: "too_much"): void;
}

/** Until this long without a packet, nothing counts as lost: the next one is only late. */
const LATE_MAX_MS = 80;
/** How much faster than ours the peer's clock may be. */
const DRIFT = 1.05;

export function incomingAudio(options: IncomingAudioOptions, to: Pick<LegListener, "heard">): IncomingAudio {
  const { aheadMaxSamples } = options;
  const cut = framer((frame) => to.heard(frame));
  let arrivedAt = performance.now();
  let filledUntil = arrivedAt;
  let credit = aheadMaxSamples;
  let creditAt = arrivedAt;

  const refill = () => {
    const now = performance.now();
    credit = Math.min(aheadMaxSamples, credit + ((now - creditAt) / 1_000) * SAMPLES_PER_SECOND * DRIFT);
    creditAt = now;
  };

  const isAffordable = (samples: number) => {
    refill();
    if (samples > credit) return false;
    credit -= samples;
    return true;
  };

  return {
    arrived: () => {
      arrivedAt = performance.now();
      filledUntil = arrivedAt;
    },
    hear: (audio) => (isAffordable(audio.length) ? cut(audio) : options.dropped("too_much")),
    lost: (samples) => {
      refill();
      const affordable = Math.min(samples, Math.floor(credit));
      credit -= affordable;
      cut(new Int16Array(affordable));
    },
    fillSilence: () => {
      const now = performance.now();
      if (now - arrivedAt <= LATE_MAX_MS) return;
      const samples = Math.floor(((now - filledUntil) / 1_000) * SAMPLES_PER_SECOND);
      filledUntil = now;
      // As much as time has passed, so this needs no credit.
      cut(new Int16Array(Math.min(samples, aheadMaxSamples)));
    },
    unheardMs: () => performance.now() - arrivedAt,
  };
}
