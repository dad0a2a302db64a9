import type { EVENTS } from "../../schemas/events.ts";
import { AGENT_ID, CREATED_AT, RECORD_ID, SESSION_ID, UPDATED_AT } from "./values.ts";

const call = {
  id: RECORD_ID,
  conversation_id: SESSION_ID,
  agent_id: AGENT_ID,
  last_agent_id: AGENT_ID,
  conversation_type: "TELEPHONY",
  calling_type: "INBOUND",
  telephony_provider: "TWILIO",
  to_mobile_number: "+14155550123",
  from_mobile_number: "+919876543210",
  is_test_call: false,
};

/** A complete payload of each event. */
export const EVENT_EXAMPLES: Readonly<Record<keyof typeof EVENTS, object>> = {
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
