import { CARRIERS } from "@parley/shared/domain/api-names";
import { Type } from "@sinclair/typebox";
import {
  AnalysisItem,
  CallingType,
  ConversationId,
  ConversationType,
  RecordId,
  Status,
  TranscriptMessage,
} from "./conversations.ts";
import { AgentId, Resource } from "./resources.ts";
import { About, Nullable, OneOf } from "./types.ts";

/** What happened, by the name of the event. */
export const EVENTS = {
  "conversation.completed": "The conversation finished successfully.",
  "conversation.disconnected": "The conversation ended early, or the called user did not answer.",
  "conversation.failed": "The conversation ended in a failure.",
} as const;

/** The payloads of webhooks. */
export const ConversationEvent = Resource(
  "ConversationEvent",
  {
    event: OneOf(Object.keys(EVENTS) as (keyof typeof EVENTS)[], { description: "Name of the event." }),
    id: RecordId,
    conversation_id: ConversationId,
    agent_id: About(AgentId, "The agent with which the conversation began."),
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
