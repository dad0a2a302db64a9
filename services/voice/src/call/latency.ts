import type { TurnLatency } from "@parley/proto/parley/conversation/v1/conversation.ts";

export type Stage = keyof TurnLatency;

/** Milliseconds from the end of the user's speech to each stage that was reached. */
export type Latency = Partial<TurnLatency>;

/** The stages of one answer, measured from the end of the user's speech; each counts once. */
export interface LatencyWatch {
  reach(stage: Stage, at: number): void;
  figures(): Latency;
}

export function watchLatency(speechEndedAt: number): LatencyWatch {
  const figures: Partial<Record<Stage, number>> = {};
  return {
    reach: (stage, at) => {
      figures[stage] ??= Math.max(0, Math.round(at - speechEndedAt));
    },
    figures: () => ({ ...figures }),
  };
}
