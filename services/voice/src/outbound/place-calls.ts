import { isFull } from "@parley/shared/domain/full";
import { ServiceError } from "@parley/shared/errors";
import { enqueueJob } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import { backOff } from "@parley/shared/retry/back-off";
import { passingTime } from "@parley/shared/shares/passing-time";
import { type Turn, turnOf, turnWithoutRoom } from "../batches/may-begin.ts";
import { REJECTED } from "../call/call-over.ts";
import { NotConnected } from "../call/port.ts";
import { beginConversation } from "../call/prepare-call.ts";
import { type Carrier, CarrierRefusal, CarrierUnavailable } from "../carriers/carrier.ts";
import { addCallUsage, dayOf } from "../store/call-usage.ts";
import { confirmAttempt, requeueCall, takeNextCall } from "../store/outbound-attempts.ts";
import { listOverdue, type OutboundCall } from "../store/outbound-calls.ts";
import { storeAnswered, storeRinging } from "../store/outbound-progress.ts";
import { callRequest } from "./call-request.ts";
import { reportEnd } from "./carrier-end.ts";
import { JOB_LEASE_MS, type OutboundContext, QUEUED_MAX_MS, QUEUES } from "./context.ts";
import { endUnchanged } from "./end-call.ts";
import { countAttempt } from "./metrics.ts";
import { wakeLane } from "./wake-lane.ts";

/** How long an attempt without a report continues: longer than any request to a carrier takes. */
const ATTEMPT_MS = 20_000;
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 60_000;
const OVERDUE_AT_ONCE = 100;

/**
 * Places calls: a job for each carrier account with calls in the queue, which runs in one process at a time and places one call in each
 * run, in order.
 */
export function placeCalls(ctx: OutboundContext): Queue {
  return {
    concurrency: 32,
    perOwner: 4,
    leaseMs: JOB_LEASE_MS,
    run: async ({ ownerId, payload }) => {
      const { carrierId } = payload as { carrierId: string };
      const now = ctx.clock.now();
      await endOverdue(ctx, ownerId, carrierId, now);
      const until = new Date(now.getTime() + ATTEMPT_MS);
      const next = await ctx.db.begin(async (tx) => {
        const taken = await takeNextCall(tx, { ownerId, carrierId, now, until }, ctx.limits);
        if (taken && !(taken instanceof Date)) await enqueueJob(tx, watchJob(taken, until));
        return taken;
      });
      if (next === null) return;
      if (next instanceof Date) return next;
      await place(ctx, next);
      return ctx.clock.now();
    },
  };
}

/** The job that looks after a call from its first attempt to its end. */
export function watchJob({ ownerId, callId }: OutboundCall, dueAt: Date) {
  return { ownerId, jobId: `watch:${callId}`, queue: QUEUES.watch, payload: { callId }, dueAt };
}

/** A call that the carrier was asked for earlier may be ringing: it is left to the next attempt, which asks the carrier. */
async function endOverdue(ctx: OutboundContext, ownerId: string, carrierId: string, now: Date): Promise<void> {
  const before = new Date(now.getTime() - QUEUED_MAX_MS);
  for (const call of await listOverdue(ctx.db, { ownerId, carrierId, before, limit: OVERDUE_AT_ONCE })) {
    if (call.attempts > 0) continue;
    await endUnchanged(ctx, call, {
      outcome: "ERROR",
      durationSeconds: 0,
      notes: "The call waited in the queue for an hour",
    });
  }
}

/** Makes one attempt. The call is placed afterwards, ended, or in the queue for another attempt. */
async function place(ctx: OutboundContext, call: OutboundCall): Promise<void> {
  try {
    if (call.provider === "SIP") await dial(ctx, call);
    else await ring(ctx, call, await ctx.carriersOf(call.ownerId, call.carrierId));
  } catch (error) {
    await notPlaced(ctx, call, error);
  }
}

/** Ends a call whose attempt has failed, or puts it back into the queue or its batch. */
async function notPlaced(ctx: OutboundContext, call: OutboundCall, error: unknown): Promise<void> {
  const turn = isFull(error) ? await turnWithoutRoom(ctx, call) : null;
  if (turn) {
    ctx.log.info({ err: error, call_id: call.callId, owner_id: call.ownerId }, "a call of a batch waits for room");
    return notBegun(ctx, call, turn);
  }
  const refusal = refusalOf(call, error);
  countAttempt(call.provider, refusal === null ? "unavailable" : "refused");
  const isLate = ctx.clock.now().getTime() - call.createdAt.getTime() > QUEUED_MAX_MS;
  if (refusal === null && !isLate) return postpone(ctx, call, error);
  const notes = refusal ?? "The carrier could not be reached for an hour";
  ctx.log.info({ err: error, call_id: call.callId, owner_id: call.ownerId }, "a call was not placed");
  // An earlier attempt may have rung if this one was refused before it could ask about it, as without its carrier.
  const mayRing = refusal === null || call.attempts > 1;
  await endUnchanged(ctx, call, { outcome: "ERROR", durationSeconds: 0, notes }, { mayRing });
}

async function ring(ctx: OutboundContext, call: OutboundCall, carrier: Carrier): Promise<void> {
  const { callId, fromMobileNumber: from, toMobileNumber: to, createdAt: since } = call;
  if (call.attempts > 1) {
    // The previous attempt may have rung.
    const found = await carrier.find({ callId, from, to, since });
    if (found?.end) return void (await reportEnd(ctx, call, found.end));
    if (found) return storeRinging(ctx.db, call, found.carrierCallId);
  }
  if (!(await mayBegin(ctx, call))) return;
  const { startWebhookMs } = await ctx.checkAgent(callRequest(call));
  if (startWebhookMs > 0 && (await isRejected(ctx, call, startWebhookMs))) {
    countAttempt(call.provider, "refused");
    return void (await endUnchanged(ctx, call, { outcome: "CANCELLED", durationSeconds: 0, notes: REJECTED }));
  }
  if (!(await isStillOurs(ctx, call))) return;
  const { ownerId, ringSeconds, voicemail } = call;
  const detectMachine = voicemail !== null;
  const { carrierCallId } = await carrier.place({ ownerId, callId, from, to, ringSeconds, detectMachine });
  countAttempt(call.provider, "placed");
  await storeRinging(ctx.db, call, carrierCallId);
}

/** Whether the agent's start webhook rejects the call, which is asked before the carrier is. */
async function isRejected(ctx: OutboundContext, call: OutboundCall, startWebhookMs: number): Promise<boolean> {
  const begun = await beginConversation({ ...ctx, clock: passingTime }, callRequest(call), call, startWebhookMs);
  return begun.isRejected;
}

/**
 * Over a trunk this process holds the call from its first ring, and its end is recorded with the conversation's. If the trunk
 * answers nothing, nobody's phone has rung, so the call goes back into the queue.
 */
async function dial(ctx: OutboundContext, call: OutboundCall): Promise<void> {
  if (!(await mayBegin(ctx, call))) return;
  const takeBack = (error: NotConnected) => notPlaced(ctx, call, error);
  await ctx.startCall({ ...callRequest(call), takeBack }, async (...connect) => {
    if (!(await isStillOurs(ctx, call))) throw new NotConnected("cancelled", "The call was cancelled");
    const ringing = () =>
      storeRinging(ctx.db, call, null).catch((err) => ctx.log.warn({ err }, "could not store that a call is ringing"));
    const leg = await ctx.dialTrunk(call, ringing, ...connect).catch((error) => {
      // A call that was not reached is counted when it is taken back.
      if (error.how !== "unreached") countAttempt(call.provider, error.how === "failed" ? "refused" : "placed");
      throw error;
    });
    countAttempt(call.provider, "placed");
    // The phone is answered, and only the leg can hang it up again.
    await storeAnswered(ctx.db, call, null, ctx.clock.now()).catch((err) =>
      ctx.log.warn({ err }, "could not store that a call is answered"),
    );
    return leg;
  });
}

async function mayBegin(ctx: OutboundContext, call: OutboundCall): Promise<boolean> {
  const turn = await turnOf(ctx, call);
  if (turn.type === "begins") {
    // Later attempts are of the same call.
    if (call.attempts === 1) await addCallUsage(ctx.db, call.ownerId, dayOf(ctx.clock.now()), { calls: 1, seconds: 0 });
    return true;
  }
  await notBegun(ctx, call, turn);
  return false;
}

/** Ends a call that is cancelled; its batch has one that is taken back. */
async function notBegun(ctx: OutboundContext, call: OutboundCall, turn: Turn): Promise<void> {
  if (turn.type === "cancelled")
    await endUnchanged(ctx, call, { outcome: "CANCELLED", durationSeconds: 0, notes: turn.notes });
}

function isStillOurs({ db, clock }: OutboundContext, call: OutboundCall): Promise<boolean> {
  const now = clock.now();
  return confirmAttempt(db, call, now, new Date(now.getTime() + ATTEMPT_MS));
}

/** Why an error is final, for the call's notes; null if another attempt may succeed. */
export function refusalOf({ provider }: OutboundCall, error: unknown): string | null {
  if (error instanceof CarrierRefusal) return `${PROVIDERS[provider]} ${error.code}: ${error.words}`;
  if (error instanceof ServiceError && FINAL.has(error.kind)) return error.detail;
  return null;
}

const PROVIDERS: Record<OutboundCall["provider"], string> = { TWILIO: "Twilio", PLIVO: "Plivo", SIP: "SIP" };
/** `upstream_failed`: of the agent's start webhook. */
const FINAL = new Set<ServiceError["kind"]>([
  ...(["condition", "not_found", "forbidden", "invalid", "conflict", "upstream_failed"] as const),
]);

async function postpone({ db, clock, log }: OutboundContext, call: OutboundCall, error: unknown): Promise<void> {
  const asked = error instanceof CarrierUnavailable ? error.retryAfterMs : null;
  const backOffMs = backOff(RETRY_MIN_MS, RETRY_MAX_MS)(call.attempts + 1);
  const delayMs = Math.max(backOffMs, Math.min(asked ?? 0, RETRY_MAX_MS));
  log.warn(
    { err: error, call_id: call.callId, owner_id: call.ownerId, retry_in_ms: delayMs },
    "a call was not placed yet",
  );
  const dueAt = new Date(clock.now().getTime() + delayMs);
  await db.begin(async (tx) => {
    // The lane may have ended during the wait for a trunk.
    if (await requeueCall(tx, call, dueAt)) await wakeLane(tx, call, clock.now());
  });
}
