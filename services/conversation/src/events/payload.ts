import type { ConversationRow } from "../store/conversations.ts";
import type { MessageRow } from "../store/messages.ts";

/**
 * What a webhook carries of an ended conversation (api.md: Events). A field that is there only "when available" is left out
 * otherwise; transcript and analysis are always arrays (decisions.md: Webhooks).
 */
export function eventPayload(event: string, row: ConversationRow, messages: readonly MessageRow[]): string {
  return JSON.stringify({
    event,
    id: row.id,
    conversation_id: row.conversationId,
    agent_id: row.agentId,
    conversation_type: row.type,
    conversation_status: row.status,
    notes: row.notes,
    // JSON leaves a field out that is undefined.
    conversation_duration: row.durationSeconds ?? undefined,
    conversation_recording_url: row.recordingUrl ?? undefined,
    calling_type: row.callingType ?? undefined,
    telephony_provider: row.telephonyProvider ?? undefined,
    to_mobile_number: row.toMobileNumber ?? undefined,
    from_mobile_number: row.fromMobileNumber ?? undefined,
    is_test_call: row.isTestCall,
    // As GET /conversations/{conversation_id} shows them.
    conversation_transcript: messages.map(({ role, content, createdAt }) => ({
      role,
      content,
      timestamp: createdAt.toISOString(),
    })),
    conversation_analysis: (row.analysis ?? []).map(({ name, value, type, error }) => ({ name, value, type, error })),
  });
}
