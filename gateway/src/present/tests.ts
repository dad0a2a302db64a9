import type { AgentTest, TestAttempt, TestResult, TestRun } from "@parley/proto/parley/agent/v1/test.ts";
import { isoTime } from "@parley/shared/domain/present/time";

/** A test as the API shows it (docs/testing-agents.md). */
export function presentTest(agentId: string, test: AgentTest) {
  return {
    test_id: test.testId,
    agent_id: agentId,
    name: test.name,
    required: test.required,
    ...test.definition,
    created_at: isoTime(test.createdAt),
    updated_at: isoTime(test.updatedAt),
    created_by: test.createdBy || null,
  };
}

export function presentRun(run: TestRun) {
  return {
    run_id: run.runId,
    ...presentCommon(run),
    results: run.results.map((result) => ({
      ...presentResult(result),
      attempts: result.attempts.map((attempt) => ({
        attempt: attempt.attempt,
        ...presentAttempt(attempt),
        conversation_id: attempt.conversationId ?? null,
        ...outcomeOf(attempt, { transcript: null, assertions: [], error: null }),
      })),
    })),
  };
}

/** A run of a list, which has no attempts. */
export function presentListedRun(run: TestRun) {
  return { run_id: run.runId, ...presentCommon(run), results: run.results.map(presentResult) };
}

function presentResult({ testId, name, required, status, passed, passes, passAtLeast }: TestResult) {
  return { test_id: testId, name, required, status, passed: passed ?? null, passes, pass_at_least: passAtLeast };
}

/** @param withWords whether it is shown what was said, which the users of stored conversations said first */
export function presentReplay(run: TestRun, withWords: boolean) {
  return {
    ...presentListedReplay(run),
    results: run.results.flatMap(({ testId, attempts }) =>
      attempts.map((attempt) => ({
        conversation_id: testId,
        ...presentAttempt(attempt),
        replayed_conversation_id: attempt.conversationId ?? null,
        ...replayed(attempt, withWords),
      })),
    ),
  };
}

function replayed(attempt: TestAttempt, withWords: boolean): object {
  const outcome = outcomeOf(attempt, { differences: [], transcript: null, error: null });
  if (withWords) return outcome;
  const { differences } = outcome as { differences: { what: string; field?: string }[] };
  return {
    ...outcome,
    transcript: null,
    differences: differences.map(({ what, field }) => ({ what, ...(field !== undefined && { field }) })),
  };
}

/** A replay of a list, which has no results. */
export function presentListedReplay(run: TestRun) {
  const { ended, total, failed: differing, errors } = run;
  return { replay_id: run.runId, ...presentCommon(run), conversations: { ended, total, differing, errors } };
}

function presentCommon(run: TestRun) {
  return {
    agent_id: run.agentId,
    agent_version: run.agentVersion,
    status: run.status,
    cost_usd: run.costUsdMicros / 1_000_000,
    unpriced_replies: run.unpricedReplies,
    max_cost_usd: run.maxCostUsdMicros === undefined ? null : run.maxCostUsdMicros / 1_000_000,
    conversations: { ended: run.ended, total: run.total },
    error: run.error ?? null,
    created_at: isoTime(run.createdAt),
    ended_at: isoTime(run.endedAt) ?? null,
    created_by: run.createdBy || null,
  };
}

function presentAttempt({ status, startedAt, endedAt }: TestAttempt) {
  return { status, started_at: isoTime(startedAt) ?? null, ended_at: isoTime(endedAt) ?? null };
}

/** What came of it; every field is there before, too. */
function outcomeOf({ outcome }: TestAttempt, before: object): object {
  return { ...before, ...(outcome !== undefined && JSON.parse(outcome)) };
}
