import { counter } from "@parley/shared/telemetry/instruments";

/** Conversations of tests and replays that have ended, by status. */
export const attemptsEnded = counter(
  "parley.test_conversations.ended",
  "Conversations of tests and replays that ended",
);

/** Runs that have ended, by status and kind. */
export const runsEnded = counter("parley.test_runs.ended", "Runs of tests and replays that ended");
