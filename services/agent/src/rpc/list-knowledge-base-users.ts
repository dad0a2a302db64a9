import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { isId } from "@parley/shared/ids";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";
import { listAgentsWithKnowledge } from "../store/agents.ts";

/** Agents that a refusal names. */
const NAMED_MAX = 10;

export function listKnowledgeBaseUsers(
  ctx: AgentContext,
): NonNullable<Handlers<typeof AgentServiceService>["listKnowledgeBaseUsers"]> {
  return async ({ ownerId, knowledgeBaseId }) => {
    if (!isId("kb", knowledgeBaseId)) return { agentNames: [], total: 0 };
    return listAgentsWithKnowledge(ctx.db, { ownerId, knowledgeBaseId }, NAMED_MAX);
  };
}
