import type { Sql } from "@parley/shared/db/database";
import { enqueueJob } from "@parley/shared/jobs/store";
import { batchCallEnded } from "../batches/run-batches.ts";
import { hangUpLater } from "../call/hang-up-lost.ts";
import { addCallUsage, dayOf } from "../store/call-usage.ts";
import type { CallEnd, CallKey } from "../store/calls.ts";
import { isUnchanged } from "../store/outbound-attempts.ts";
import {
  findCallOfConversation,
  listQueuedCarriers,
  type OutboundCall,
  type OutboundKey,
} from "../store/outbound-calls.ts";
import { storeEnd } from "../store/outbound-progress.ts";
import { type OutboundContext, QUEUES } from "./context.ts";
import { wakeLane } from "./wake-lane.ts";

type EndContext = Pick<OutboundContext, "db" | "clock">;

interface EndOptions {
  /** Whether its carrier may still ring it, so that a job hangs it up there; absent: no. */
  mayRing?: boolean;
}

/**
 * Ends a call that no process holds, and has its conversation completed. Does nothing if it has ended.
 * @returns whether it ended now
 */
export async function endCall(
  ctx: EndContext,
  call: OutboundKey,
  end: CallEnd,
  options: EndOptions = {},
): Promise<boolean> {
  return ctx.db.begin((tx) => endCallWithin(tx, ctx, call, end, options));
}

/** Does the same unless another process has moved the call on since it was read, so that nobody ends the attempt of another. */
export async function endUnchanged(
  ctx: EndContext,
  call: OutboundCall,
  end: CallEnd,
  options: EndOptions = {},
): Promise<boolean> {
  return ctx.db.begin(async (tx) => (await isUnchanged(tx, call)) && endCallWithin(tx, ctx, call, end, options));
}

/** Does the same as `endCall` within a transaction. */
export async function endCallWithin(
  tx: Sql,
  ctx: Pick<EndContext, "clock">,
  call: OutboundKey,
  end: CallEnd,
  { mayRing = false }: EndOptions = {},
): Promise<boolean> {
  const ended = await settle(tx, ctx, call, end);
  if (!ended) return false;
  await completeLater(tx, ctx, ended);
  if (mayRing) await hangUpPlaced(tx, ctx, ended);
  return true;
}

/** Over a trunk, a phone rings only for the process that holds the call. */
async function hangUpPlaced(tx: Sql, { clock }: Pick<EndContext, "clock">, call: OutboundCall): Promise<void> {
  const { carrierId, carrierCallId, callId, fromMobileNumber: from, toMobileNumber: to, dueAt } = call;
  if (call.provider === "SIP" || call.attempts === 0) return;
  if (carrierCallId !== null) return hangUpLater(tx, call, { type: "carrier", carrierId, carrierCallId }, clock.now());
  const placed = { type: "placed", carrierId, callId, from, to, since: call.createdAt.toISOString() } as const;
  // Until an attempt in progress is over, the carrier may not know the call yet.
  await hangUpLater(tx, call, placed, dueAt);
}

/**
 * Requests the completion of a held call whose process died before the conversation began.
 * @returns false for a call that no agent made
 */
export async function completeUnbegun(ctx: EndContext, held: CallKey): Promise<boolean> {
  const call = await findCallOfConversation(ctx.db, held);
  if (call?.status === "ENDED") await completeLater(ctx.db, ctx, call);
  return call !== null;
}

async function completeLater(
  sql: Sql,
  { clock }: Pick<EndContext, "clock">,
  { ownerId, callId }: OutboundKey,
): Promise<void> {
  const job = { ownerId, jobId: `complete:${callId}`, queue: QUEUES.complete, payload: { callId } };
  await enqueueJob(sql, { ...job, dueAt: clock.now() });
}

/**
 * Records the end of a call that a process held, which completes its conversation itself. The first end of a call counts.
 * @returns how it ended; `end` for a call that no agent made
 */
export async function recordEnd(ctx: EndContext, held: CallKey, end: CallEnd): Promise<CallEnd> {
  const call = await findCallOfConversation(ctx.db, held);
  if (!call) return end;
  const adjusted = adjustedEnd(call, end);
  if (call.status !== "ENDED" && (await ctx.db.begin((tx) => settle(tx, ctx, call, adjusted)))) return adjusted;
  const ended = await findCallOfConversation(ctx.db, held);
  return ended ? endOf(ended) : adjusted;
}

/** If the owner hangs up before an answer, the call counts as cancelled. */
function adjustedEnd({ isUnwanted, answeredAt }: OutboundCall, end: CallEnd): CallEnd {
  return isUnwanted && answeredAt === null && end.outcome !== "ERROR" ? { ...end, outcome: "CANCELLED" } : end;
}

/** How an ended call ended. */
export function endOf({ outcome, durationSeconds, notes }: OutboundCall): CallEnd {
  return { outcome: outcome ?? "ERROR", durationSeconds: durationSeconds ?? 0, notes };
}

/** Ends the row, and wakes the jobs that wait for its place. @returns null if it had ended */
async function settle(
  tx: Sql,
  { clock }: Pick<EndContext, "clock">,
  key: OutboundKey,
  end: CallEnd,
): Promise<OutboundCall | null> {
  const ended = await storeEnd(tx, key, end, clock.now());
  if (!ended) return null;
  if (end.durationSeconds > 0)
    await addCallUsage(tx, key.ownerId, dayOf(clock.now()), { calls: 0, seconds: end.durationSeconds });
  await batchCallEnded(tx, ended, clock.now());
  for (const carrierId of await listQueuedCarriers(tx, key.ownerId)) {
    await wakeLane(tx, { ownerId: key.ownerId, carrierId }, clock.now());
  }
  return ended;
}
