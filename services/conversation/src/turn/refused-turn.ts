import type { Sql } from "@parley/shared/db/database";
import { notFound, ServiceError } from "@parley/shared/errors";
import { conversationExists, findConversation } from "../store/conversations.ts";
import { hasRoomForMetadata, type NewTurn } from "../store/turns/take-turns.ts";

const WHAT: Readonly<Record<NewTurn["type"], string>> = { CHAT: "chat session", WHATSAPP: "WhatsApp conversation" };

/** Why a turn could not be taken. */
export async function refusedTurn(sql: Sql, turn: NewTurn): Promise<ServiceError> {
  const session = await findConversation(sql, turn, turn.now);
  if (!session) {
    return (await conversationExists(sql, turn.conversationId, turn.now))
      ? new ServiceError("forbidden", "You do not have access to this session")
      : notFound("Session");
  }
  const metadata = { session_id: turn.conversationId };
  if (session.type !== turn.type) {
    return new ServiceError("condition", `Session is not a ${WHAT[turn.type]}`, { metadata });
  }
  if (session.agentId !== turn.agentId && session.askedAgentId !== turn.agentId) {
    return new ServiceError("condition", "session_id belongs to a session of another agent", { metadata });
  }
  if ((session.draftId === null) !== (turn.draftId === null)) {
    const detail =
      turn.draftId === null
        ? "Session uses a draft: send draft with each message"
        : "Session does not use a draft: start a new session, without session_id";
    return new ServiceError("condition", detail, { metadata });
  }
  if (session.status !== "IN_PROGRESS") return new ServiceError("condition", "Session has ended", { metadata });
  if (!(await hasRoomForMetadata(sql, turn))) {
    const message = "metadata of all messages of a session must be at most 1 MiB together";
    return new ServiceError("invalid", message, { violations: [{ path: "metadata", message }], metadata });
  }
  return inProgress(turn.conversationId);
}

export function inProgress(sessionId: string): ServiceError {
  const message = "A reply is in progress in this session. Wait for it to end.";
  return new ServiceError("conflict", message, { metadata: { session_id: sessionId } });
}
