import type { components } from "../../../api/gen/schema.ts";

type Run = components["schemas"]["TestRun"];

/** How a test ended last. */
export interface LastResult {
  runId: string;
  passed: boolean;
  agentVersion: number;
  at: string;
}

/** The newest result of each test, by the test's ID. @param runs newest first */
export function lastResultsOf(
  runs: readonly Pick<Run, "run_id" | "agent_version" | "status" | "ended_at" | "results">[],
): ReadonlyMap<string, LastResult> {
  const last = new Map<string, LastResult>();
  for (const { run_id: runId, agent_version: agentVersion, status, ended_at: at, results } of runs) {
    // A run that was cancelled says nothing of the tests that it did not finish.
    if (at === null || status === "CANCELLED") continue;
    for (const { test_id, passed } of results)
      if (passed !== null && !last.has(test_id)) last.set(test_id, { runId, passed, agentVersion, at });
  }
  return last;
}
