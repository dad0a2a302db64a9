import type { Sql } from "@parley/shared/db/database";
import { newId, newUuid } from "@parley/shared/ids";
import { enqueueJob } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import { JOB_LEASE_MS, type OutboundContext } from "../outbound/context.ts";
import { wakeLane } from "../outbound/wake-lane.ts";
import {
  type BatchKey,
  type CallBatchRow,
  findBatch,
  findBatchProgress,
  storeBatchStatus,
  storeEntryOutcome,
  takeDueEntries,
} from "../store/call-batches.ts";
import { insertOutboundCall, type OutboundCall } from "../store/outbound-calls.ts";
import { opensAt } from "./window.ts";

export const BATCH_QUEUE = "call-batches";

/** The job also runs this often, in case the end of a call did not wake it. */
const LOOK_MS = 10_000;

/**
 * Moves numbers of batches into the queue of calls: a job for each batch, which keeps only as many of its calls there as may be under
 * way. So the owner's single calls wait behind few.
 */
export function runBatches(ctx: OutboundContext): Queue {
  return {
    concurrency: 8,
    perOwner: 2,
    leaseMs: JOB_LEASE_MS,
    run: async ({ ownerId, payload }) => {
      const { batchId } = payload as { batchId: string };
      return (await ctx.db.begin((tx) => advance(tx, ctx, { ownerId, batchId }))) ?? undefined;
    },
  };
}

/** Wakes a batch's job. */
export function wakeBatch(sql: Sql, { ownerId, batchId }: BatchKey, now: Date): Promise<void> {
  return enqueueJob(sql, { ownerId, jobId: `batch:${batchId}`, queue: BATCH_QUEUE, payload: { batchId }, dueAt: now });
}

/** A call has ended; it may belong to a batch. */
export async function batchCallEnded(tx: Sql, call: OutboundCall, now: Date): Promise<void> {
  const { ownerId, batchId, batchNumber, outcome } = call;
  if (batchId === null || batchNumber === null || outcome === null) return;
  const batch = await findBatch(tx, { ownerId, batchId });
  if (!batch) return;
  const { max, afterMinutes, on } = batch.settings.retries;
  const mayRepeat = on.includes(outcome) && batch.status !== "CANCELLED" && !call.isUnwanted;
  const againAt = mayRepeat ? new Date(now.getTime() + afterMinutes * 60_000) : null;
  await storeEntryOutcome(tx, batch, batchNumber, { outcome, againAt, attemptsMax: max + 1 });
  await wakeBatch(tx, batch, now);
}

/** @returns when to look again; null if there is nothing left to do, or until someone resumes it */
async function advance(tx: Sql, ctx: OutboundContext, key: BatchKey): Promise<Date | null> {
  const batch = await findBatch(tx, key, true);
  if (batch?.status !== "RUNNING") return null;
  const now = ctx.clock.now();
  const later = waitsUntil(batch, now);
  if (later) return later;
  const { calling } = await findBatchProgress(tx, key);
  const room = ctx.limits.callsMax - calling;
  if (room > 0) await callNext(tx, batch, now, room);
  const progress = await findBatchProgress(tx, key);
  if (progress.nextAt === null && progress.calling === 0) {
    await storeBatchStatus(tx, key, "ENDED", now);
    return null;
  }
  const soon = new Date(now.getTime() + LOOK_MS);
  const isDue = progress.nextAt !== null && progress.nextAt <= now;
  // None of those due may be called: others may follow immediately.
  if (isDue && progress.calling < ctx.limits.callsMax) return now;
  return progress.nextAt !== null && progress.nextAt > soon && progress.calling === 0 ? progress.nextAt : soon;
}

/** When calls of the batch may begin next; null if they may begin now. */
export function waitsUntil({ settings }: Pick<CallBatchRow, "settings">, now: Date): Date | null {
  const startAt = settings.startAt === null ? null : new Date(settings.startAt);
  return startAt && startAt > now ? startAt : opensAt(settings.window, now);
}

async function callNext(tx: Sql, batch: CallBatchRow, now: Date, room: number): Promise<void> {
  const called = await takeDueEntries(tx, batch, { now, limit: room });
  if (called.length === 0) return;
  const { startAt: _, window: __, retries: ___, ...settings } = batch.settings;
  for (const { number, toMobileNumber, dynamicVariables } of called) {
    await insertOutboundCall(
      tx,
      {
        ...settings,
        ownerId: batch.ownerId,
        callId: newId("call"),
        conversationId: newUuid(),
        carrierId: batch.carrierId,
        provider: batch.provider,
        toMobileNumber,
        dynamicVariables,
        batchId: batch.batchId,
        batchNumber: number,
      },
      now,
    );
  }
  await wakeLane(tx, batch, now);
}
