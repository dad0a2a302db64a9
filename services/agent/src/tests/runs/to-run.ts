import type { TestResult, TestRun } from "@parley/proto/parley/agent/v1/test.ts";
import type { RunStatus } from "@parley/shared/domain/tests";
import { isOpen, scoreTest } from "../score.ts";
import type { AttemptCounts, AttemptSummary, TestOfRun } from "../store/attempts.ts";
import type { RunRow } from "../store/runs.ts";
import { type ScoredTest, scoreTests } from "./results.ts";

/** A run with its attempts, as far as they were read. */
export function toTestRun(run: RunRow, attempts: readonly AttemptSummary[]): TestRun {
  const results = scoreTests(attempts).map((test) => ({
    ...toResult(test),
    attempts: test.attempts.map((attempt) => ({
      attempt: attempt.attempt,
      status: attempt.status,
      conversationId: attempt.conversationId ?? undefined,
      outcome: attempt.outcome ? JSON.stringify(attempt.outcome) : undefined,
      startedAt: attempt.startedAt ?? undefined,
      endedAt: attempt.endedAt ?? undefined,
    })),
  }));
  return toRun(run, results, countsOf(attempts.map(({ status }) => status)));
}

/** A run of a list, which has no attempts. */
export function toListedRun(run: RunRow, tests: readonly TestOfRun[]): TestRun {
  const results = tests.map((test) => toResult({ ...test, ...scoreTest(test.passAtLeast, test.statuses) }));
  return toRun(run, results, countsOf(tests.flatMap(({ statuses }) => statuses)));
}

/** A replay of a list, which has no results. @param counts none if it was deleted meanwhile */
export function toListedReplay(run: RunRow, [counts = countsOf([])]: readonly AttemptCounts[]): TestRun {
  return toRun(run, [], counts);
}

function toRun(run: RunRow, results: TestResult[], { ended, total, failed, errors }: AttemptCounts): TestRun {
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
    results,
    ...{ ended, total, failed, errors },
  };
}

function countsOf(statuses: readonly RunStatus[]): AttemptCounts {
  return {
    ended: statuses.filter((status) => !isOpen(status)).length,
    total: statuses.length,
    failed: statuses.filter((status) => status === "FAILED").length,
    errors: statuses.filter((status) => status === "ERROR").length,
  };
}

function toResult(test: Omit<ScoredTest, "attempts" | "passKey">): TestResult {
  const { testId, name, required, passed, passes, passAtLeast, status } = test;
  return { testId, name, required, passed: passed ?? undefined, passes, passAtLeast, status, attempts: [] };
}
