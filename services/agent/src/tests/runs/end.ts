import type { Sql } from "@parley/shared/db/database";
import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import { attemptsEnded, runsEnded } from "../metrics.ts";
import { isOpen, runStatus } from "../score.ts";
import {
  cancelAttempts,
  closeCancelled,
  type EndedAttempt,
  endAttempt,
  listAttemptSummaries,
} from "../store/attempts.ts";
import { insertPass } from "../store/passes.ts";
import { lockRun, type RunRow, updateRun } from "../store/runs.ts";
import type { Cost } from "./attempt.ts";
import type { Begun } from "./begun.ts";
import { type ScoredTest, scoreTests } from "./results.ts";

/** Stores the end of an attempt, counts its cost, and ends the run with its last one. Of one that was cancelled, only its cost is counted. */
export async function storeEnd(
  tx: Sql,
  { attempt, token, ended, cost }: Begun & { ended: EndedAttempt; cost: Cost },
  now: Date,
): Promise<void> {
  // Before the other locks, as whoever deletes the run's agent does.
  await lockStoredBytes(tx, attempt.ownerId);
  const run = await lockRun(tx, attempt);
  if (!run) return;
  const counted: RunRow = {
    ...run,
    cost: run.cost + cost.micros,
    unpricedReplies: run.unpricedReplies + cost.unpriced,
  };
  if (!(await endAttempt(tx, attempt, token, ended, now))) {
    if (await closeCancelled(tx, attempt, token, ended.conversationId)) await updateRun(tx, counted);
    return;
  }
  attemptsEnded().add(1, { status: ended.status });
  if (counted.maxCost !== null && counted.cost >= counted.maxCost) {
    const cancelled = await cancelAttempts(tx, run, { alsoRunning: false, now });
    if (cancelled > 0)
      counted.error = "The run has cost max_cost_usd: the conversations that had not begun were cancelled";
  }
  const attempts = await listAttemptSummaries(tx, run.ownerId, [run.runId]);
  const tests = scoreTests(attempts);
  // Whatever becomes of the rest of the run.
  const test = tests.find(({ testId }) => testId === attempt.testId);
  if (test?.passed === true && test.passKey !== null) await insertPass(tx, run, test.passKey, now);
  const isOver = !attempts.some(({ status }) => isOpen(status));
  if (!isOver) return updateRun(tx, counted);
  const status = statusOf(counted, tests);
  runsEnded().add(1, { status, kind: run.isReplay ? "replay" : "tests" });
  await updateRun(tx, { ...counted, status, endedAt: now });
}

function statusOf({ error }: RunRow, tests: readonly ScoredTest[]): RunRow["status"] {
  const wereCancelled = tests.some(({ attempts }) => attempts.some(({ status }) => status === "CANCELLED"));
  if (error !== null && wereCancelled) return "ERROR";
  return runStatus(
    tests.map(({ passed, attempts }) => ({
      passed: passed === true,
      errors: attempts.filter(({ status }) => status === "ERROR").length,
    })),
  );
}
