import type { Database } from "@parley/shared/db/database";
import { ownerCache } from "@parley/shared/shares/owner-cache";
import { findSessionAgent, type SessionAgent } from "../store/conversations.ts";
import type { SessionKey } from "../store/session-key.ts";

/** The agents that sessions have begun with, so that a turn knows its version before it is taken. */
export interface SessionAgents {
  known(key: SessionKey): SessionAgent | undefined;
  /** Null if there is no such session. */
  read(key: SessionKey): Promise<SessionAgent | null>;
  keep(key: SessionKey, agent: SessionAgent): void;
  forget(key: SessionKey): void;
}

/** Room for about 50,000 sessions, and for 3,000 of one owner. */
const TOTAL_BYTES = 16 * 1024 * 1024;
const OWNER_BYTES = 1024 * 1024;
const SESSION_BYTES = 300;

/** Once a session has begun, its agent and version never change. */
export function sessionAgents(db: Database): SessionAgents {
  const sessions = ownerCache<SessionAgent>({ totalBytes: TOTAL_BYTES, ownerBytes: OWNER_BYTES });
  const keep: SessionAgents["keep"] = (
    { ownerId, conversationId },
    { agentId, askedAgentId, agentVersion, isStarting },
  ) => {
    // Nothing else of what is given, which may be a session with its long message.
    const agent = { agentId, askedAgentId, agentVersion, isStarting };
    if (!isStarting) sessions.set(ownerId, conversationId, agent, SESSION_BYTES);
  };
  return {
    known: ({ ownerId, conversationId }) => sessions.get(ownerId, conversationId),
    async read(key) {
      const found = await findSessionAgent(db, key);
      if (found) keep(key, found);
      return found;
    },
    keep,
    forget: ({ ownerId, conversationId }) => sessions.delete(ownerId, conversationId),
  };
}
