import { Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { Voicemail } from "@parley/proto/parley/voice/v1/call.ts";
import { type CallBatch, type CallBatchCounts, CallBatchStatus } from "@parley/proto/parley/voice/v1/call_batch.ts";
import type { CallBatchRow } from "../store/call-batches.ts";

/** @param counts by state, as countBatchCalls returns them; absent in a list */
export function toCallBatch(batch: CallBatchRow, counts?: ReadonlyMap<string, number>): CallBatch {
  const { settings } = batch;
  return {
    batchId: batch.batchId,
    status: CallBatchStatus[`CALL_BATCH_STATUS_${batch.status}`],
    settings: {
      name: settings.name ?? undefined,
      agentId: settings.agentId,
      agentVersion: settings.agentVersion ?? undefined,
      fromMobileNumber: settings.fromMobileNumber,
      startAt: settings.startAt === null ? undefined : new Date(settings.startAt),
      window: settings.window ?? undefined,
      retries: {
        max: settings.retries.max,
        afterMinutes: settings.retries.afterMinutes,
        on: settings.retries.on.map((outcome) => Outcome[`OUTCOME_${outcome}`]),
      },
      metadata: settings.metadata,
      isTestCall: settings.isTestCall,
      maxDurationSeconds: settings.maxDurationSeconds,
      ringSeconds: settings.ringSeconds,
      voicemail: VOICEMAILS[settings.voicemail ?? "none"],
    },
    createdAt: batch.createdAt,
    endedAt: batch.endedAt ?? undefined,
    total: batch.total,
    counts: counts && toCounts(counts),
  };
}

const VOICEMAILS = {
  none: Voicemail.VOICEMAIL_UNSPECIFIED,
  hang_up: Voicemail.VOICEMAIL_HANG_UP,
  leave_message: Voicemail.VOICEMAIL_LEAVE_MESSAGE,
} as const;

function toCounts(counts: ReadonlyMap<string, number>): CallBatchCounts {
  const of = (state: string) => counts.get(state) ?? 0;
  return {
    pending: of("PENDING"),
    calling: of("CALLING"),
    doNotCall: of("DO_NOT_CALL"),
    success: of("SUCCESS"),
    noAnswer: of("NO_ANSWER"),
    busy: of("BUSY"),
    cancelled: of("CANCELLED"),
    hungUpEarly: of("HUNG_UP_EARLY"),
    error: of("ERROR"),
  };
}
