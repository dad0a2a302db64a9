import type { ConversationServiceService, Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { invalid } from "@parley/shared/errors";
import { isUuid } from "@parley/shared/ids";
import type { Handlers } from "@parley/shared/rpc/server";
import type { ConversationContext } from "../context.ts";
import { runTurn } from "../turn/turn.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["streamTurn"]>;

export function streamTurn(ctx: ConversationContext): Handler {
  return async function* (request, call) {
    for await (const event of runTurn(ctx, turnOf(request), call, "streamed")) {
      yield event.type === "started"
        ? { event: { $case: "started", value: { sessionId: event.sessionId, replayed: event.replayed } } }
        : { event: { $case: "text", value: event.text } };
    }
  };
}

/**
 * Returns the requested turn, with its session id in the form that Postgres writes.
 * @throws ServiceError invalid when the turn is missing or its session id is not a UUID
 */
export function turnOf({ turn }: { turn: Turn | undefined }): Turn {
  if (!turn) throw invalid("turn", "turn is required");
  if (turn.sessionId !== undefined && !isUuid(turn.sessionId)) {
    throw invalid("session_id", "session_id must be a UUID, as a chat reply or first-message gave it");
  }
  return { ...turn, sessionId: turn.sessionId?.toLowerCase() };
}
