import { Type } from "@sinclair/typebox";
import { Draft } from "./draft.ts";
import { Json, Maybe, PageQuery, Text } from "./types.ts";

const SessionId = Text({
  pattern: "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
  form: "be a UUID, as a chat reply or first-message gave it",
});
const AgentId = Text({ min: 1, max: 200, description: "ID of the agent.", example: "agt_01m7yyhwdzeb28n9gms8rr2qyg" });

export const MESSAGE_CHARACTERS_MAX = 4000;

/** The route checks the message's length, because a violation is 400 instead of 422. */
export const ChatBody = Type.Object(
  {
    agent_id: AgentId,
    message: Text({
      description: `What the user says, 1 to ${MESSAGE_CHARACTERS_MAX} characters.`,
      example: "When do you open on Friday?",
    }),
    session_id: Maybe(
      SessionId,
      "Session to continue, from `X-Session-ID`, a reply or first-message. Without it, a new session begins.",
    ),
    streaming: Maybe(
      Type.Boolean({ default: true }),
      "Whether to stream the reply as text (the default), or to return it as JSON once it is complete.",
    ),
    metadata: Maybe(
      Json,
      "Kept with the conversation. `dynamic_variables` in it, and values at its top level, fill the prompt's variables.",
    ),
    draft: Draft,
  },
  { $id: "ChatRequest", description: "A message to an agent." },
);

export const ListSessionsQuery = Type.Object({
  ...PageQuery,
  agent_id: Type.Optional(Text({ max: 200, description: "Only sessions with this agent." })),
});
