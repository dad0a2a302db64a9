import { ConversationType } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { invalid } from "@parley/shared/errors";
import { isUuid } from "@parley/shared/ids";

const TYPES: readonly ConversationType[] = [
  ConversationType.CONVERSATION_TYPE_UNSPECIFIED,
  ConversationType.CONVERSATION_TYPE_CHAT,
  ConversationType.CONVERSATION_TYPE_WHATSAPP,
];

/**
 * Returns the requested turn, with its session id in the form that Postgres writes.
 * @throws ServiceError invalid when the turn is missing, its session id is not a UUID, or its type has no such turns
 */
export function requestedTurn(turn: Turn | undefined): Turn {
  if (!turn) throw invalid("turn", "turn is required");
  if (turn.sessionId !== undefined && !isUuid(turn.sessionId)) {
    throw invalid("session_id", "session_id must be a UUID, as a chat reply or first-message gave it");
  }
  if (!TYPES.includes(turn.type)) throw invalid("type", "type must be CHAT or WHATSAPP: no other type has such turns");
  if (turn.mayBegin && turn.sessionId === undefined) throw invalid("session_id", "may_begin needs a session_id");
  return { ...turn, sessionId: turn.sessionId?.toLowerCase() };
}
