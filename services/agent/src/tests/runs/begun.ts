import type { AttemptSummary } from "../store/attempts.ts";
import type { RunRow } from "../store/runs.ts";

/** An attempt that a lane holds. */
export interface Begun {
  attempt: AttemptSummary;
  run: RunRow;
  /** Names this beginning of the attempt. */
  token: string;
}
