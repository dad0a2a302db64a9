import { CallBatchChange, ChangeCallBatchResponse } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { invalid, ServiceError } from "@parley/shared/errors";
import { runPrepared } from "@parley/shared/idempotency/run";
import { wakeBatch } from "../batches/run-batches.ts";
import type { Handler } from "../feature.ts";
import type { OutboundContext } from "../outbound/context.ts";
import { endCall } from "../outbound/end-call.ts";
import { type BatchKey, cancelEntries, findBatch, storeBatchStatus } from "../store/call-batches.ts";
import { listUnendedOfBatch } from "../store/outbound-calls.ts";
import { readBatch } from "./get-call-batch.ts";

const STATUSES = {
  [CallBatchChange.CALL_BATCH_CHANGE_PAUSE]: "PAUSED",
  [CallBatchChange.CALL_BATCH_CHANGE_RESUME]: "RUNNING",
  [CallBatchChange.CALL_BATCH_CHANGE_CANCEL]: "CANCELLED",
} as const;
type Status = (typeof STATUSES)[keyof typeof STATUSES];

/** A batch that has ended stays as it is; one that was cancelled is not resumed. */
export function changeCallBatch(ctx: OutboundContext): Handler<"changeCallBatch"> {
  return async ({ change, idempotency, ...key }, call) => {
    const status = STATUSES[change as keyof typeof STATUSES];
    if (!status) throw invalid("change", "change must be PAUSE, RESUME or CANCEL");
    return runPrepared(
      ctx,
      { ownerId: key.ownerId, idempotency, codec: ChangeCallBatchResponse, call },
      {
        // Requests with one key that run at the same time all set the same status, so the change need not be part of the write.
        prepare: async () => {
          await changeStatus(ctx, key, status);
          return { batch: await readBatch(ctx.db, key) };
        },
        write: async (_tx, changed) => changed,
      },
    );
  };
}

async function changeStatus(ctx: OutboundContext, key: BatchKey, status: Status): Promise<void> {
  await readBatch(ctx.db, key);
  const now = ctx.clock.now();
  await ctx.db.begin(async (tx) => {
    if (!(await storeBatchStatus(tx, key, status, now))) {
      const isCancelled = status === "RUNNING" && (await findBatch(tx, key))?.status === "CANCELLED";
      if (isCancelled)
        throw new ServiceError("conflict", "The batch was cancelled, so it cannot be resumed: create another one");
      return;
    }
    if (status === "CANCELLED") await cancelEntries(tx, key);
    if (status === "RUNNING") await wakeBatch(tx, key, now);
  });
  if (status === "CANCELLED") await cancelWaiting(ctx, key);
}

/** Cancels calls that have not been tried; the others are ringing, or may be. */
async function cancelWaiting(ctx: OutboundContext, { ownerId, batchId }: BatchKey): Promise<void> {
  for (const call of await listUnendedOfBatch(ctx.db, ownerId, batchId)) {
    const isUntried = call.status === "QUEUED" && call.attempts === 0;
    if (isUntried) await endCall(ctx, call, { outcome: "CANCELLED", durationSeconds: 0, notes: null });
  }
}
