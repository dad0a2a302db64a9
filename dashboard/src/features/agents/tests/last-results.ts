import type { components } from "../../../api/gen/schema.ts";

type Run = components["schemas"]["ListedTestRun"];

/** How a test ended last. */
export interface LastResult {
  runId: string;
  status: Run["status"];
  agentVersion: number;
  at: string;
}

/** The newest result of each test, by the test's ID. @param runs newest first */
export function lastResultsOf(
  runs: readonly Pick<Run, "run_id" | "agent_version" | "ended_at" | "results">[],
): ReadonlyMap<string, LastResult> {
  const last = new Map<string, LastResult>();
  for (const { run_id: runId, agent_version: agentVersion, ended_at: at, results } of runs) {
    if (at === null) continue;
    for (const { test_id: testId, status } of results) {
      // A run that was cancelled, or has reached its cap, says nothing of the tests that it did not finish.
      if (status !== "CANCELLED" && !last.has(testId)) last.set(testId, { runId, status, agentVersion, at });
    }
  }
  return last;
}
