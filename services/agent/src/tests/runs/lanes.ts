import type { Sql } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import { enqueueJobs, type Job } from "@parley/shared/jobs/store";
import { HAND_OVER, type Queue } from "@parley/shared/jobs/worker";
import type { AgentContext } from "../../context.ts";
import { type Cost, NO_COST } from "../cost.ts";
import {
  beginAttempt,
  type EndedAttempt,
  findNextAttempt,
  findNextRun,
  forgiveStart,
  isCurrent,
  noteAsking,
} from "../store/attempts.ts";
import { lockRun, updateRun } from "../store/runs.ts";
import { countBroken, type Progress } from "./attempt.ts";
import type { Begun } from "./begun.ts";
import { settleAbandoned, storeEnd } from "./end.ts";
import { runAttempt } from "./run-attempt.ts";

const QUEUE = "test-lanes";
/**
 * Each is a job, and a job runs in one process at a time: so at most as many test conversations of an owner run at once, in however
 * many replicas.
 */
const LANES = [0, 1, 2, 3];
/** Of all owners, in one process. */
const CONCURRENCY = 16;
/** An attempt whose process ends so often is given up: it may be what ends them. */
const STARTS_MAX = 3;

/** Has an owner's attempts begin. */
export async function enqueueLanes(tx: Sql, ownerId: string, now: Date): Promise<void> {
  await enqueueJobs(
    tx,
    LANES.map((lane) => ({ ownerId, jobId: `${QUEUE}.${lane}`, queue: QUEUE, payload: { lane }, dueAt: now })),
  );
}

/**
 * Runs the attempts of runs and replays. Each run of a lane's job is one attempt; the job ends when none waits.
 * @param stopping breaks off what another process then begins anew: nobody waits for the end of a call
 */
export function testLanes(ctx: AgentContext, stopping: AbortSignal): Record<string, Queue> {
  return {
    [QUEUE]: {
      concurrency: CONCURRENCY,
      perOwner: LANES.length,
      run: async (job, lease) => {
        const { payload } = job as Job<{ lane: number }>;
        await settleAbandoned(ctx, job.ownerId, payload.lane);
        const begun = await begin(ctx, job.ownerId, payload.lane);
        if (!begun) return;
        if (begun === "again") return ctx.clock.now();
        const { attempt, run, token } = begun;
        const ended = await runToEnd(ctx, begun, AbortSignal.any([lease, stopping]));
        if (!ended && stopping.aborted) {
          await forgiveStart(ctx.db, attempt, token);
          return HAND_OVER;
        }
        if (ended) await ctx.db.begin((tx) => storeEnd(tx, { attempt, run, token, ...ended }, ctx.clock.now()));
        return ctx.clock.now();
      },
    },
  };
}

async function begin(
  { db, clock }: Pick<AgentContext, "db" | "clock">,
  ownerId: string,
  lane: number,
): Promise<Begun | "again" | null> {
  return db.begin(async (tx) => {
    const runId = await findNextRun(tx, ownerId);
    if (runId === null) return null;
    const run = await lockRun(tx, { ownerId, runId });
    const attempt = run && (await findNextAttempt(tx, run));
    if (!attempt) return "again";
    const token = newUuid();
    await beginAttempt(tx, attempt, { lane, token, now: clock.now() });
    if (run.status === "QUEUED") await updateRun(tx, { ...run, status: "RUNNING" });
    return { attempt: { ...attempt, starts: attempt.starts + 1 }, run, token };
  });
}

/** Thrown within an attempt that nobody wants anymore. */
const UNWANTED = new Error("the attempt was cancelled, or another process has begun it anew");

/** @returns null when the attempt is no longer this process's to end */
async function runToEnd(
  ctx: AgentContext,
  { attempt, run, token }: Begun,
  brokenOff: AbortSignal,
): Promise<{ ended: EndedAttempt; cost: Cost } | null> {
  if (attempt.starts > STARTS_MAX) {
    const error = `The processes that held this conversation ended ${STARTS_MAX} times. Run the test again.`;
    return { ended: { status: "ERROR", conversationId: null, outcome: { error } }, cost: NO_COST };
  }
  const gone = new AbortController();
  const signal = AbortSignal.any([brokenOff, gone.signal]);
  const wanted = (look: typeof isCurrent) => async () => {
    if (!brokenOff.aborted && (await look(ctx.db, attempt, token))) return;
    gone.abort(UNWANTED);
    throw UNWANTED;
  };
  const [check, asks] = [wanted(isCurrent), wanted(noteAsking)];
  const so: Progress = { conversationId: null, cost: NO_COST, isCounted: false };
  try {
    const ended = await runAttempt(ctx, { attempt, run, token, signal, check, asks, so });
    return { ended, cost: so.cost };
  } catch (error) {
    if (brokenOff.aborted) return null;
    const fault = error instanceof ServiceError ? error : null;
    // A process that holds conversations may have been replaced: this one is then begun anew.
    const mayBeHeld = !fault || (fault.kind === "unavailable" && attempt.starts < STARTS_MAX);
    if (mayBeHeld && (await isCurrent(ctx.db, attempt, token))) throw error;
    // The conversation may be what is out of reach.
    await countBroken(ctx, attempt.ownerId, so);
    const outcome = { error: fault?.detail ?? "Cancelled" };
    return { ended: { status: "ERROR", conversationId: so.conversationId, outcome }, cost: so.cost };
  }
}
