import type { CallBatch } from "@parley/proto/parley/voice/v1/call_batch.ts";
import { CALL_BATCH_STATUSES, nameOf } from "@parley/shared/domain/api-names";
import { isoTime } from "@parley/shared/domain/present/time";
import { required } from "./required.ts";

/** A batch as a list shows it. */
export function presentBatch(batch: CallBatch) {
  const settings = required(batch.settings);
  return {
    batch_id: batch.batchId,
    status: nameOf(CALL_BATCH_STATUSES, batch.status),
    name: settings.name ?? null,
    agent_id: settings.agentId,
    from_mobile_number: settings.fromMobileNumber,
    total: batch.total,
    start_at: isoTime(settings.startAt) ?? null,
    created_at: isoTime(batch.createdAt),
    ended_at: isoTime(batch.endedAt) ?? null,
  };
}

/** A single batch. */
export function presentCountedBatch(batch: CallBatch) {
  const counts = required(batch.counts);
  return {
    ...presentBatch(batch),
    counts: {
      pending: counts.pending,
      calling: counts.calling,
      do_not_call: counts.doNotCall,
      success: counts.success,
      no_answer: counts.noAnswer,
      busy: counts.busy,
      cancelled: counts.cancelled,
      hung_up_early: counts.hungUpEarly,
      error: counts.error,
    },
  };
}
