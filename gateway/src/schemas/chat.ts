import { Type } from "@sinclair/typebox";
import { Json, Maybe, PageQuery, Text } from "./types.ts";

const SessionId = Text({
  pattern: "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
  form: "be a UUID, as a chat reply or first-message gave it",
});

/** The message's length is checked apart: breaking it is 400, not 422 (decisions.md: HTTP conventions). */
export const ChatBody = Type.Object({
  agent_id: Text({ min: 1, max: 200 }),
  message: Text({ description: "1 to 4000 characters", example: "Hello!" }),
  session_id: Maybe(SessionId),
  streaming: Maybe(Type.Boolean({ default: true })),
  metadata: Maybe(Json),
});

export const MESSAGE_CHARACTERS_MAX = 4000;

export const ListSessionsQuery = Type.Object({ ...PageQuery, agent_id: Type.Optional(Text({ max: 200 })) });
