import { type Static, Type } from "@sinclair/typebox";
import { AgentVersion, AgentVersionQuery } from "./agent-version.ts";
import { Status, TranscriptMessage } from "./conversations.ts";
import { RepliesUsage } from "./costs.ts";
import { AsksStartWebhook, Draft } from "./draft.ts";
import { AgentId, At, PageFigures, Resource, Uuid } from "./resources.ts";
import { About, Json, Maybe, Metadata, OneOf, PageQuery, Text } from "./types.ts";

const GivenSessionId = Text({
  pattern: "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
  form: "be a UUID, as a chat reply or first-message gave it",
});
const GivenAgentId = Text({
  min: 1,
  max: 200,
  description: "ID of the agent.",
  example: "agt_01m7yyhwdzeb28n9gms8rr2qyg",
});

export const MESSAGE_CHARACTERS_MAX = 4000;

export type ToolResultGiven = Static<typeof ToolResultGiven>;
const ToolResultGiven = Type.Object(
  {
    tool_call_id: Text({
      min: 1,
      max: 100,
      description: "ID of the call, from `tool_calls`.",
      example: "tcl_01m7yyhwpyegyarwxc0gvz1xd5",
    }),
    result: Type.Optional(
      Type.Unknown({
        description: "What the call gave: any JSON. The model sees at most 32 KiB of it.",
        examples: [{ seat: "14C" }],
      }),
    ),
    error: Maybe(Text({ min: 1 }), "Instead of `result`: why the call failed, for the model."),
  },
  { $id: "ClientToolResult", description: "The result of a call that your client made." },
);

/**
 * The route checks the message's length, because a violation is 400 instead of 422, and that there is either a message or results.
 */
export const ChatBody = Type.Object(
  {
    agent_id: GivenAgentId,
    message: Type.Optional(
      Text({
        description: `What the user says, 1 to ${MESSAGE_CHARACTERS_MAX} characters. Required without \`tool_results\`.`,
        example: "When do you open on Friday?",
      }),
    ),
    client_tools: Maybe(
      Type.Boolean({ default: false }),
      "Whether your client makes calls of the agent's client tools. They are in `tool_calls` of a JSON reply or of the event `done`; without this, and in a reply as plain text, the model is told that they are not available.",
    ),
    tool_results: Maybe(
      Type.Array(ToolResultGiven, { minItems: 1, maxItems: 40 }),
      "Instead of `message`: results of calls that the model waits for. With the last of them, the reply goes on.",
    ),
    session_id: Maybe(
      GivenSessionId,
      "Session to continue, from `X-Session-ID`, a reply or first-message. Without it, a new session begins.",
    ),
    streaming: Maybe(
      Type.Boolean({ default: true }),
      "Whether to stream the reply as text (the default), or to return it as JSON once it is complete.",
    ),
    metadata: Maybe(
      Metadata,
      "Kept with the conversation. `dynamic_variables` in it, and values at its top level, fill the prompt's variables.",
    ),
    agent_version: AgentVersion,
    draft: Draft,
    asks_start_webhook: AsksStartWebhook,
  },
  { $id: "ChatRequest", description: "A message to an agent." },
);

export const StartChatQuery = Type.Object({ agent_version: AgentVersionQuery });

export const ListSessionsQuery = Type.Object({
  ...PageQuery,
  agent_id: Type.Optional(Text({ max: 200, description: "Only sessions with this agent." })),
});

const SessionId = Uuid("ID of the session.");
const MessageCount = Type.Integer({ description: "Number of messages." });
const SessionMetadata = About(Json, "What you sent with it, `last_activity` and `session_status`.");

export const ChatSession = Resource("ChatSession", {
  session_id: SessionId,
  agent_id: AgentId,
  status: Status,
  messages: Type.Array(TranscriptMessage, {
    description: "What was said, oldest first; of a long session, the newest messages.",
  }),
  message_count: MessageCount,
  created_at: At("When the session began."),
  updated_at: At("When the session last changed."),
  metadata: SessionMetadata,
  usage: RepliesUsage("The session's usage."),
});

export const ChatSessionList = Resource("ChatSessionList", {
  object: Type.Literal("list", { description: "Always `list`." }),
  data: Type.Array(
    Resource("ChatSessionItem", {
      id: SessionId,
      object: Type.Literal("chat.session", { description: "Always `chat.session`." }),
      created_at: Type.Integer({ description: "When the session began, in Unix seconds." }),
      updated_at: Type.Integer({ description: "When the session last changed, in Unix seconds." }),
      agent_id: AgentId,
      conversation_name: Type.String({ description: "Beginning of the first message." }),
      message_count: MessageCount,
      metadata: SessionMetadata,
    }),
    { description: "Sessions of the page, newest first." },
  ),
  has_more: Type.Boolean({ description: "Whether there is a next page." }),
  ...PageFigures,
});

const ClientCall = Resource("ClientToolCall", {
  tool_call_id: Type.String({ description: "ID of the call.", examples: ["tcl_01m7yyhwpyegyarwxc0gvz1xd5"] }),
  name: Type.String({ description: "Name of the tool.", examples: ["show_seats"] }),
  arguments: About(Json, "What the model gave, and the tool's variables and constants."),
  wait: Type.Boolean({
    description: "Whether the model waits for the result, in `tool_results` of your next request.",
  }),
  timeout_ms: Type.Optional(
    Type.Integer({
      description: "How long it waits, from now on: the tool's `timeout_ms`. Only with `wait`.",
      examples: [20_000],
    }),
  ),
});

export const ChatReply = Resource(
  "ChatReply",
  {
    response: Type.String({
      description: "The whole reply; empty if the model waits for results, or an operator answers.",
    }),
    session_id: SessionId,
    tool_calls: Type.Optional(
      Type.Array(ClientCall, { description: "Only with `client_tools`: calls for your client to make." }),
    ),
    answered_by: Type.Optional(
      OneOf(["operator"] as const, {
        description:
          "The message is stored and the model was not asked, because an operator has muted the agent or answers in its place.",
      }),
    ),
  },
  "A whole reply, with `streaming: false`.",
);

export const FirstMessage = Resource("FirstMessage", {
  session_id: About(SessionId, "ID of the new session, for the messages that follow."),
  first_message: Type.String({ description: "The agent's greeting." }),
  agent_id: AgentId,
});
