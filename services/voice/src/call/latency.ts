import type { TurnLatency } from "@parley/proto/parley/conversation/v1/conversation.ts";

type Stage = Exclude<keyof TurnLatency, "unfinished">;

/** Milliseconds from the end of the user's speech to each stage that was reached, and whether their sentence seemed unfinished. */
export type Latency = Partial<TurnLatency>;

/** The stages of one answer, measured from the end of the user's speech; each counts once. */
export interface LatencyWatch {
  reach(stage: Stage, at: number): void;
  /** The end of the turn took more silence, because the user's sentence seemed unfinished. */
  isUnfinished(): void;
  figures(): Latency;
}

export function watchLatency(speechEndedAt: number): LatencyWatch {
  const figures: Latency = {};
  return {
    reach: (stage, at) => {
      figures[stage] ??= Math.max(0, Math.round(at - speechEndedAt));
    },
    isUnfinished: () => {
      figures.unfinished = true;
    },
    figures: () => ({ ...figures }),
  };
}
