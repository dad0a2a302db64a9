import type { Call } from "@parley/proto/parley/voice/v1/call.ts";
import { CALL_OUTCOMES, CALL_STATUSES, nameOf } from "@parley/shared/domain/api-names";
import { isoTime } from "@parley/shared/domain/present/time";

/** A call that an agent makes, as the API shows it (docs/outbound-calls.md). */
export function presentCall(call: Call) {
  return {
    call_id: call.callId,
    conversation_id: call.conversationId,
    agent_id: call.agentId,
    to_mobile_number: call.toMobileNumber,
    from_mobile_number: call.fromMobileNumber,
    status: nameOf(CALL_STATUSES, call.status),
    outcome: nameOf(CALL_OUTCOMES, call.outcome) ?? null,
    notes: call.notes ?? null,
    created_at: isoTime(call.createdAt),
    placed_at: isoTime(call.placedAt) ?? null,
    answered_at: isoTime(call.answeredAt) ?? null,
    ended_at: isoTime(call.endedAt) ?? null,
    duration_seconds: call.durationSeconds ?? null,
    is_test_call: call.isTestCall,
    batch_id: call.batchId ?? null,
  };
}
