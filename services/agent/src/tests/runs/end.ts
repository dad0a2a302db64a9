import { EndedBy } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { Sql } from "@parley/shared/db/database";
import { newUuid } from "@parley/shared/ids";
import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import type { AgentContext } from "../../context.ts";
import { type Cost, costOfAbandoned, costUnread, NO_COST, sumCosts, UNKNOWN_COST } from "../cost.ts";
import { attemptsEnded, runsEnded } from "../metrics.ts";
import { isOpen, runStatus } from "../score.ts";
import {
  type AttemptKey,
  cancelAttempts,
  closeCancelled,
  type EndedAttempt,
  endAttempt,
  findAbandoned,
  type HeldAttempt,
  listAttemptSummaries,
  noteAnswered,
  requeueAttempt,
} from "../store/attempts.ts";
import { insertPass } from "../store/passes.ts";
import { lockRun, type RunRow, updateRun } from "../store/runs.ts";
import type { Begun } from "./begun.ts";
import { endChat } from "./hold-chat.ts";
import { readConversation } from "./read-conversation.ts";
import { type ScoredTest, scoreTests } from "./results.ts";

/** Stores the end of an attempt, counts its cost, and ends the run with its last one. Of one that was cancelled, only its cost is counted. */
export async function storeEnd(
  tx: Sql,
  { attempt, token, ended, cost }: Begun & { ended: EndedAttempt; cost: Cost },
  now: Date,
): Promise<void> {
  const run = await lockCounted(tx, attempt, cost);
  if (!run) return;
  if (!(await endAttempt(tx, attempt, token, ended, now))) {
    if (await closeCancelled(tx, attempt, token, ended.conversationId)) await updateRun(tx, run);
    return;
  }
  attemptsEnded().add(1, { status: ended.status });
  const tests = await storeProgress(tx, run, now);
  // Whatever becomes of the rest of the run.
  const test = tests.find(({ testId }) => testId === attempt.testId);
  if (test?.passed === true && test.passKey !== null) await insertPass(tx, run, test.passKey, now);
}

/**
 * Ends the conversation that a lane held when its process ended or gave it up, counts what it has cost, and lets its attempt wait again.
 */
export async function settleAbandoned(ctx: AgentContext, ownerId: string, lane: number): Promise<void> {
  const held = await findAbandoned(ctx.db, ownerId, lane);
  if (!held) return;
  const key = { ownerId, conversationId: held.token };
  const origin = { requestId: newUuid() };
  await endChat(ctx, { ownerId, origin }, held.token, EndedBy.ENDED_BY_SYSTEM).catch(() => {});
  const left = await readConversation(ctx, key, origin).then(
    (conversation) => ({ conversationId: held.token, cost: costOfAbandoned(conversation) }),
    (error) => ({ conversationId: null, cost: costUnread(error) }),
  );
  const cost = sumCosts(left.cost, held.isAsking ? UNKNOWN_COST : NO_COST);
  await ctx.db.begin(async (tx) => {
    const run = await lockCounted(tx, held, cost);
    if (!run) return;
    if (await requeueAttempt(tx, held)) await storeProgress(tx, run, ctx.clock.now());
    else if (await closeCancelled(tx, held, held.token, left.conversationId)) await updateRun(tx, run);
  });
}

/** Counts what an answer of an attempt's judge or simulated user has cost. */
export async function storePaid(ctx: AgentContext, held: HeldAttempt, cost: Cost): Promise<void> {
  await ctx.db.begin(async (tx) => {
    const run = await lockCounted(tx, held, cost);
    if (!run) return;
    // Another process gave it up meanwhile, and counted it as unknown.
    const known = (await noteAnswered(tx, held)) ? 0 : UNKNOWN_COST.unpriced;
    await updateRun(tx, { ...run, unpricedReplies: run.unpricedReplies - known });
  });
}

/** The run of an attempt, with this cost added to its own. */
async function lockCounted(tx: Sql, { ownerId, runId }: AttemptKey, cost: Cost): Promise<RunRow | null> {
  // Before the other locks, as whoever deletes the run's agent does.
  await lockStoredBytes(tx, ownerId);
  const run = await lockRun(tx, { ownerId, runId });
  return run && { ...run, cost: run.cost + cost.micros, unpricedReplies: run.unpricedReplies + cost.unpriced };
}

/** Stores a run that goes on: it begins no further conversation once it has cost as much as it may, and ends with its last one. */
async function storeProgress(tx: Sql, counted: RunRow, now: Date): Promise<ScoredTest[]> {
  const run = { ...counted };
  if (run.maxCost !== null && run.cost >= run.maxCost) {
    const cancelled = await cancelAttempts(tx, run, { alsoRunning: false, now });
    if (cancelled > 0) run.error = "The run has cost max_cost_usd: the conversations that had not begun were cancelled";
  }
  const tests = scoreTests(await listAttemptSummaries(tx, run));
  if (!tests.some(({ attempts }) => attempts.some(({ status }) => isOpen(status)))) {
    Object.assign(run, { status: statusOf(run, tests), endedAt: now });
    runsEnded().add(1, { status: run.status, kind: run.isReplay ? "replay" : "tests" });
  }
  await updateRun(tx, run);
  return tests;
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
