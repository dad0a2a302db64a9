import { samplePayload } from "@parley/shared/domain/event-samples";
import { EVENT_NAMES, type EventName } from "@parley/shared/portable/events";
import { AGENT_ID, ALERT_ID, CREATED_AT, EVENT_ID, RECORD_ID, SESSION_ID, TOOL_ID, UPDATED_AT } from "./values.ts";

const call = {
  id: RECORD_ID,
  conversation_id: SESSION_ID,
  agent_id: AGENT_ID,
  agent_version: 3,
  last_agent_id: AGENT_ID,
  conversation_type: "TELEPHONY",
  calling_type: "INBOUND",
  telephony_provider: "TWILIO",
  to_mobile_number: "+14155550123",
  from_mobile_number: "+919876543210",
  is_test_call: false,
};

const IDS = {
  eventId: EVENT_ID,
  conversationId: SESSION_ID,
  recordId: RECORD_ID,
  agentId: AGENT_ID,
  toolId: TOOL_ID,
  callId: "tcl_01m7yyhwpyegyarwxc0gvz1xd5",
  alertId: ALERT_ID,
};
const SAMPLES = Object.fromEntries(
  EVENT_NAMES.map((event) => [event, samplePayload(event, IDS, new Date(UPDATED_AT))]),
) as Record<EventName, object>;

/** A complete payload of each event. */
export const EVENT_EXAMPLES: Readonly<Record<EventName, object>> = {
  ...SAMPLES,
  "conversation.completed": {
    event: "conversation.completed",
    ...call,
    conversation_status: "COMPLETED",
    notes: null,
    conversation_duration: 21.5,
    conversation_recording_url: "https://recordings.acme.example/call.mp3",
    conversation_transcript: [
      { role: "assistant", content: "Front desk, how can I help?", timestamp: CREATED_AT },
      { role: "user", content: "When do you open?", timestamp: UPDATED_AT },
    ],
    conversation_analysis: [
      { name: "helped", value: true, type: "bool" },
      { name: "mood", value: null, type: "str", error: "The model gave no value" },
    ],
  },
  "conversation.disconnected": {
    event: "conversation.disconnected",
    ...call,
    conversation_status: "DISCONNECTED",
    notes: "No answer.",
    conversation_transcript: [],
    conversation_analysis: [],
  },
  "conversation.failed": {
    event: "conversation.failed",
    ...call,
    conversation_status: "FAILED",
    notes: "The carrier lost the call.",
    conversation_transcript: [{ role: "assistant", content: "Front desk, how can I help?", timestamp: CREATED_AT }],
    conversation_transcript_truncated: true,
    conversation_analysis: [],
  },
};

/** What a start webhook is asked, and an answer. */
export const START_EXAMPLE = {
  question: {
    agent_id: AGENT_ID,
    conversation_id: SESSION_ID,
    channel: "telephony",
    direction: "inbound",
    caller: "+919876543210",
    called: "+14155550123",
    metadata: {},
    dynamic_variables: {},
  },
  answer: {
    dynamic_variables: { customer_name: "Ada", open_orders: [48213] },
    first_message: "Hello {{customer_name}}, is it about your order?",
    language: "en-US",
    metadata: { crm_id: "C-1042" },
  },
};
