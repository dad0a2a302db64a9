import { CARRIERS } from "@parley/shared/domain/api-names";
import { DEFAULT_EVENTS, EVENTS, type EventName } from "@parley/shared/portable/events";
import { type TSchema, Type } from "@sinclair/typebox";
import {
  AnalysisItem,
  CallingType,
  Conversation,
  ConversationId,
  ConversationType,
  KeptVersion,
  RecordId,
  Status,
  ToolCall,
  TranscriptMessage,
} from "./conversations.ts";
import { Alert } from "./manage/alerts.ts";
import { AgentId, At, Id, Resource } from "./resources.ts";
import { Tool } from "./tools/shown.ts";
import { About, Nullable, OneOf } from "./types.ts";

/** The payload of an ended conversation. */
const ConversationEvent = Resource(
  "ConversationEvent",
  {
    event: OneOf(DEFAULT_EVENTS, { description: "Name of the event." }),
    id: RecordId,
    conversation_id: ConversationId,
    agent_id: About(AgentId, "The agent with which the conversation began."),
    agent_version: KeptVersion,
    last_agent_id: About(AgentId, "The agent that answered last: another one if agents handed over."),
    conversation_type: ConversationType,
    conversation_status: About(Status, "How it ended."),
    notes: Nullable(Type.String(), "Notes from whoever ended the conversation, or why a reply failed."),
    conversation_duration: Type.Optional(Type.Number({ description: "Duration in seconds, when known." })),
    conversation_recording_url: Type.Optional(
      Type.String({ description: "Address of the recording, when there is one." }),
    ),
    calling_type: Type.Optional(About(CallingType, "Direction of the call, for calls.")),
    telephony_provider: Type.Optional(OneOf(CARRIERS, { description: "Carrier of the call, when known." })),
    to_mobile_number: Type.Optional(
      Type.String({ description: "Number that was called, in E.164 form, when known.", examples: ["+14155550123"] }),
    ),
    from_mobile_number: Type.Optional(
      Type.String({ description: "Number that called, in E.164 form, when known.", examples: ["+919876543210"] }),
    ),
    dynamic_variables: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          "Values of its dynamic variables by name, those that tools assigned too; left out if there are none, or more than 100,000 bytes.",
      }),
    ),
    is_test_call: Type.Boolean({ description: "Whether it was a test call, or this is a sample event." }),
    conversation_transcript: Type.Array(TranscriptMessage, {
      description: "What was said, oldest first; empty for a call without a transcript.",
    }),
    conversation_transcript_truncated: Type.Optional(
      Type.Boolean({
        description:
          "Present and true when the transcript is cut to its newest messages, and long messages to their beginning. GET /conversations/{conversation_id} returns more.",
      }),
    ),
    conversation_analysis: Type.Array(AnalysisItem, {
      description: "An item for each field of the analysis; empty when there is none, or not within a minute.",
    }),
    conversation_analysis_truncated: Type.Optional(
      Type.Boolean({ description: "Present and true when a large analysis is cut to its shortest fields." }),
    ),
  },
  "A conversation that ended.",
);

const { conversation_transcript: _, ...withoutTranscript } = Conversation.properties;
const EventConversation = Resource(
  "EventConversation",
  withoutTranscript,
  "The conversation, without its transcript, as it was when the event was sent for the first time.",
);

const Recording = Resource(
  "Recording",
  {
    status: OneOf(["ready", "failed"] as const, { description: "Whether there is a recording." }),
    url: Nullable(Type.String(), "Where to fetch it with a key; null if it failed."),
    bytes: Nullable(Type.Integer({ minimum: 0 }), "Size of the file; null if it failed."),
    reason: Nullable(Type.String(), "Why the call is not recorded, or only in part; null if it is ready."),
    finished_at: Nullable(At(), "When the file was complete; null if it failed."),
  },
  "The recording of a call.",
);

const Transfer = Resource(
  "Transfer",
  {
    to: Type.String({ description: "Number or address.", examples: ["+14155550100"] }),
    mode: OneOf(["blind", "warm"] as const, {
      description: "`blind`: the agent left at once. `warm`: it called the person first.",
    }),
    outcome: OneOf(["accepted", "declined", "no_answer", "failed"] as const, {
      description: "What came of it. A `blind` one is `accepted` or `failed`.",
    }),
  },
  "A transfer of a call's user to somebody else.",
);

const news = ($id: string, object: TSchema, [first, ...others]: readonly [EventName, ...EventName[]]) => {
  const { key } = EVENTS[first];
  const hasConversation = first !== "tool.changed" && key !== "alert";
  const schema = Resource($id, {
    event: OneOf([first, ...others], { description: "Name of the event." }),
    id: Id("ID of the event, the `webhook-id` of every attempt.", "evt_01m7yyhwdzeb28n9gms8rr2qyg"),
    created_at: At("When it happened."),
    ...(hasConversation && { conversation_id: ConversationId }),
    [key ?? ""]: object,
  });
  return [first, ...others].map((event) => [event, schema] as const);
};

const NEWS = new Map<EventName, TSchema>([
  ...news("ConversationNews", EventConversation, ["conversation.started", "conversation.analyzed"]),
  ...news("RecordingNews", Recording, ["recording.ready", "recording.failed"]),
  ...news("TransferNews", Transfer, ["transfer.completed", "transfer.failed"]),
  ...news("FailedToolNews", ToolCall, ["tool.failed"]),
  ...news("ChangedToolNews", Tool, ["tool.changed"]),
  ...news("MessageNews", TranscriptMessage, ["message.failed"]),
  ...news("AlertNews", Alert, ["alert.opened", "alert.resolved"]),
]);

/** The schema of an event's payload. */
export function payloadSchema(event: EventName): TSchema {
  return NEWS.get(event) ?? ConversationEvent;
}
