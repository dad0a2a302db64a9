import { EVENTS, type EventName } from "../portable/events.ts";

/** What a sample event names. */
interface SampleIds {
  eventId: string;
  conversationId: string;
  recordId: string;
  agentId: string;
  toolId: string;
  callId: string;
  alertId: string;
}

const DURATION_SECONDS = 42;

/** The payload of a sample event, with every field that it can have (docs/webhooks.md). @param now when it happened */
export function samplePayload(event: EventName, ids: SampleIds, now: Date): object {
  const at = (second: number) => new Date(now.getTime() - (DURATION_SECONDS - second) * 1_000).toISOString();
  const { key } = EVENTS[event];
  if (key === null) return endedPayload(event, ids, at);
  const hasConversation = event !== "tool.changed" && key !== "alert";
  return {
    event,
    id: ids.eventId,
    created_at: now.toISOString(),
    ...(hasConversation && { conversation_id: ids.conversationId }),
    [key]: OBJECTS[event as keyof typeof OBJECTS](ids, at),
  };
}

type At = (second: number) => string;

const NOTES = "A test event: there is no such conversation.";
const ANALYSIS = [{ name: "summary", value: "The caller moved an appointment to Friday.", type: "str" }];
const STATUSES = {
  "conversation.completed": "COMPLETED",
  "conversation.disconnected": "DISCONNECTED",
  "conversation.failed": "FAILED",
} as Readonly<Partial<Record<EventName, string>>>;

function endedPayload(event: EventName, ids: SampleIds, at: At): object {
  return {
    event,
    id: ids.recordId,
    conversation_id: ids.conversationId,
    agent_id: ids.agentId,
    last_agent_id: ids.agentId,
    agent_version: 3,
    conversation_type: "TELEPHONY",
    conversation_status: STATUSES[event],
    notes: NOTES,
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
    conversation_analysis: ANALYSIS,
  };
}

const OBJECTS = {
  "conversation.started": (ids: SampleIds, at: At) => conversation(ids, at, "IN_PROGRESS"),
  "conversation.analyzed": (ids: SampleIds, at: At) => ({
    ...conversation(ids, at, "COMPLETED"),
    conversation_analysis: ANALYSIS,
    outcome: "SUCCESS",
    duration: DURATION_SECONDS,
    answered_at: at(0),
  }),
  "recording.ready": (_: SampleIds, at: At) => ({
    status: "ready",
    url: "https://parley.example/v1/public/conversations/recording",
    bytes: 337_044,
    reason: null,
    finished_at: at(DURATION_SECONDS),
  }),
  "recording.failed": () => ({
    status: "failed",
    url: null,
    bytes: null,
    reason: "the owner's recordings are too large",
    finished_at: null,
  }),
  "transfer.completed": () => ({ to: "+14155550100", mode: "warm", outcome: "accepted" }),
  "transfer.failed": () => ({ to: "+14155550100", mode: "warm", outcome: "no_answer" }),
  "tool.failed": ({ callId }: SampleIds) => ({
    tool_call_id: callId,
    name: "book_table",
    arguments: '{"people":4}',
    result: "The tool answered with status 503.",
    status: "FAILED",
    is_error: true,
    is_cut: false,
    http_status: 503,
    note: null,
    attempts: 3,
    started_ms: 12,
    duration_ms: 3_480,
    offset: 0,
  }),
  "tool.changed": ({ toolId }: SampleIds, at: At) => ({
    id: toolId,
    name: "shop",
    description: "The shop's tools.",
    type: "mcp",
    url: "https://mcp.shop.example/mcp",
    headers: {},
    auth: null,
    tools: null,
    on_change: "disable",
    mcp_tools: [
      {
        name: "find_product",
        description: "Finds a product.",
        input_schema: { type: "object", properties: { name: { type: "string" } } },
        state: "changed",
      },
    ],
    problems: [],
    timeout_ms: 10_000,
    speech: { before: "auto", delayed: [] },
    interruption: "continue",
    run: "wait",
    created_at: at(0),
    updated_at: at(0),
    created_by: null,
  }),
  "message.failed": (_: SampleIds, at: At) => ({
    role: "assistant",
    content: "Your table is booked for Friday at ten.",
    timestamp: at(40),
    delivery_status: "failed",
    delivery_error: "131047",
  }),
  "alert.opened": (ids: SampleIds, at: At) => alert(ids, at, true),
  "alert.resolved": (ids: SampleIds, at: At) => alert(ids, at, false),
} as const;

function conversation({ recordId, conversationId, agentId }: SampleIds, at: At, status: string) {
  return {
    id: recordId,
    conversation_id: conversationId,
    agent_id: agentId,
    agent_version: 3,
    agent_path: [{ agent_id: agentId, agent_version: 3, from_seq: 1 }],
    conversation_type: "TELEPHONY",
    conversation_status: status,
    conversation_analysis: null,
    notes: NOTES,
    created_by: null,
    conversation_metadata: {
      to_mobile_number: "+14155550100",
      from_mobile_number: "+14155550123",
      calling_type: "INBOUND",
      telephony_provider: "TWILIO",
      conversation_recording_url: null,
      conversation_duration: null,
      dynamic_variables: {},
      is_test_call: true,
    },
    created_at: at(0),
    updated_at: at(0),
    calling_type: "INBOUND",
    mobile_number: "+14155550123",
  };
}

function alert({ alertId }: SampleIds, at: At, isOpen: boolean) {
  return {
    alert_id: alertId,
    name: "Tools fail",
    enabled: true,
    metric: "tool_failed_share",
    agent_id: null,
    window_minutes: 15,
    threshold: 0.2,
    minimum_count: 10,
    is_open: isOpen,
    value: isOpen ? 0.35 : 0.05,
    count: 20,
    opened_at: at(0),
    resolved_at: isOpen ? null : at(DURATION_SECONDS),
    checked_at: at(DURATION_SECONDS),
    created_at: at(0),
    updated_at: at(0),
  };
}
