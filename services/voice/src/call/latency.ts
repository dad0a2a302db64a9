import type { TurnLatency } from "@parley/proto/parley/conversation/v1/conversation.ts";

export type Stage = keyof TurnLatency;

/** The stages of one answer, measured from the end of the user's speech; each counts once. */
export interface LatencyWatch {
  reach(stage: Stage, at: number): void;
  /** Milliseconds of the stages that were reached. */
  figures(): Partial<TurnLatency>;
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
