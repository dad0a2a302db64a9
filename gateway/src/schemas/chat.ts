import { Type } from "@sinclair/typebox";
import { Json, Maybe, PageQuery, Text } from "./types.ts";

const SessionId = Text({
  pattern: "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
  form: "be a UUID, as a chat reply or first-message gave it",
});
const AgentId = Text({ min: 1, max: 200, description: "ID of the agent.", example: "agt_01m7yyhwdzeb28n9gms8rr2qyg" });

export const MESSAGE_CHARACTERS_MAX = 4000;

/** The message's length is checked apart, because breaking it is 400 and not 422. */
export const ChatBody = Type.Object(
  {
    agent_id: AgentId,
    message: Text({
      description: `What the user says, 1 to ${MESSAGE_CHARACTERS_MAX} characters.`,
      example: "When do you open on Friday?",
    }),
    session_id: Maybe(
      SessionId,
      "Session to go on with, from `X-Session-ID`, a reply or first-message. Left out, a new session begins.",
    ),
    streaming: Maybe(
      Type.Boolean({ default: true }),
      "Whether the reply comes as text while the model makes it (the default), or as JSON when it is whole.",
    ),
    metadata: Maybe(
      Json,
      "Kept with the conversation. `dynamic_variables` in it, and values at its top level, fill the prompt's variables.",
    ),
  },
  { $id: "ChatRequest", description: "A message to an agent." },
);

export const ListSessionsQuery = Type.Object({
  ...PageQuery,
  agent_id: Type.Optional(Text({ max: 200, description: "Only sessions with this agent." })),
});
