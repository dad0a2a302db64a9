import { newId, newUuid } from "@parley/shared/ids";
import { activeTraceparent } from "@parley/shared/telemetry/spans";
import type { EventRow } from "./store/events.ts";

const DURATION_SECONDS = 42;

/** Makes a test event: a conversation.completed with every field it can have (docs/api-reference.md#events). */
export function sampleEvent(ownerId: string, now: Date): EventRow {
  const conversationId = newUuid();
  const agentId = newId("agt");
  const at = (second: number) => new Date(now.getTime() - (DURATION_SECONDS - second) * 1000).toISOString();
  const payload = {
    event: "conversation.completed",
    id: newId("cnv"),
    conversation_id: conversationId,
    agent_id: agentId,
    last_agent_id: agentId,
    conversation_type: "TELEPHONY",
    conversation_status: "COMPLETED",
    notes: "A test event: there is no such conversation.",
    conversation_duration: DURATION_SECONDS,
    conversation_recording_url: "https://recordings.example/test.mp3",
    calling_type: "INBOUND",
    telephony_provider: "TWILIO",
    to_mobile_number: "+14155550100",
    from_mobile_number: "+14155550123",
    is_test_call: true,
    conversation_transcript: [
      { role: "assistant", content: "Hello, this is Ada. How can I help?", timestamp: at(0) },
      { role: "user", content: "I would like to move my appointment to Friday.", timestamp: at(8) },
      { role: "assistant", content: "Done: it is on Friday at ten. Goodbye!", timestamp: at(40) },
    ],
    conversation_analysis: [{ name: "summary", value: "The caller moved an appointment to Friday.", type: "str" }],
  };
  return {
    ownerId,
    eventId: newId("evt"),
    event: payload.event,
    conversationId,
    payload: JSON.stringify(payload),
    test: true,
    traceparent: activeTraceparent() ?? null,
  };
}
