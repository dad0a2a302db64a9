import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import type { ConversationContext } from "../context.ts";
import type { AgentOnPath } from "../store/agent-path.ts";
import { findConversation } from "../store/conversations.ts";
import type { SessionKey } from "../store/session-key.ts";
import { callerOf } from "./choose-version.ts";

/**
 * The agent to which a conversation is handed over: in the version with which it has held the conversation before, or else in the one
 * with which a conversation of this caller begins now.
 * @throws ServiceError as `Agents.choose` does
 */
export async function successorOf(
  { agents, db, clock }: Pick<ConversationContext, "agents" | "db" | "clock">,
  key: SessionKey,
  path: readonly AgentOnPath[],
  agentId: string,
): Promise<AgentRuntime> {
  const held = path.findLast((agent) => agent.agentId === agentId);
  if (held) return agents.get(key.ownerId, agentId, { agentVersion: held.agentVersion, draftId: null });
  const row = await findConversation(db, key, clock.now());
  return agents.choose(key.ownerId, agentId, { caller: callerOf(row ?? key) });
}
