import type { TestRun } from "@parley/proto/parley/agent/v1/test.ts";
import type { AttemptSummary } from "../store/attempts.ts";
import type { RunRow } from "../store/runs.ts";
import { scoreTests } from "./results.ts";

/** A run with its attempts, as far as they were read. */
export function toTestRun(run: RunRow, attempts: readonly AttemptSummary[]): TestRun {
  return {
    runId: run.runId,
    agentId: run.agentId,
    agentVersion: run.agentVersion,
    status: run.status,
    error: run.error ?? undefined,
    costUsdMicros: run.cost,
    unpricedReplies: run.unpricedReplies,
    maxCostUsdMicros: run.maxCost ?? undefined,
    createdAt: run.createdAt,
    endedAt: run.endedAt ?? undefined,
    createdBy: run.createdBy,
    results: scoreTests(attempts).map((test) => ({
      testId: test.testId,
      name: test.name,
      required: test.required,
      passed: test.passed ?? undefined,
      passes: test.passes,
      passAtLeast: test.passAtLeast,
      attempts: test.attempts.map((attempt) => ({
        attempt: attempt.attempt,
        status: attempt.status,
        conversationId: attempt.conversationId ?? undefined,
        outcome: attempt.outcome ? JSON.stringify(attempt.outcome) : undefined,
        startedAt: attempt.startedAt ?? undefined,
        endedAt: attempt.endedAt ?? undefined,
      })),
    })),
    ended: attempts.filter(({ endedAt }) => endedAt !== null).length,
    total: attempts.length,
  };
}
