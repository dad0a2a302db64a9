import { Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { type Call, CallStatus } from "@parley/proto/parley/voice/v1/call.ts";
import type { OutboundCall, Status } from "../store/outbound-calls.ts";

const STATUSES: Record<Status, CallStatus> = {
  QUEUED: CallStatus.CALL_STATUS_QUEUED,
  // The carrier has not accepted it yet.
  PLACING: CallStatus.CALL_STATUS_QUEUED,
  RINGING: CallStatus.CALL_STATUS_RINGING,
  IN_PROGRESS: CallStatus.CALL_STATUS_IN_PROGRESS,
  ENDED: CallStatus.CALL_STATUS_ENDED,
};

/** The stored statuses for those of the protocol. */
export function statusesOf(asked: readonly CallStatus[]): Status[] {
  return (Object.keys(STATUSES) as Status[]).filter((status) => asked.includes(STATUSES[status]));
}

export function toCall(call: OutboundCall): Call {
  return {
    callId: call.callId,
    conversationId: call.conversationId,
    agentId: call.agentId,
    toMobileNumber: call.toMobileNumber,
    fromMobileNumber: call.fromMobileNumber,
    status: STATUSES[call.status],
    outcome: call.outcome === null ? Outcome.OUTCOME_UNSPECIFIED : Outcome[`OUTCOME_${call.outcome}`],
    notes: call.notes ?? undefined,
    createdAt: call.createdAt,
    placedAt: call.placedAt ?? undefined,
    answeredAt: call.answeredAt ?? undefined,
    endedAt: call.endedAt ?? undefined,
    durationSeconds: call.durationSeconds ?? undefined,
    isTestCall: call.isTestCall,
    batchId: call.batchId ?? undefined,
  };
}
