import type { AttemptToHold } from "../store/attempts.ts";
import type { RunRow } from "../store/runs.ts";

/** An attempt that a lane holds. */
export interface Begun {
  attempt: AttemptToHold;
  run: RunRow;
  /** Names this beginning of the attempt, and is the ID of its conversation. */
  token: string;
}
