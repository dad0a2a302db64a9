import { isId } from "@parley/shared/ids";
import type { AgentContext, Handler } from "../context.ts";
import { listAgentsWithKnowledge } from "../store/agents.ts";

/** Agents that a refusal names. */
const NAMED_MAX = 10;

export function listKnowledgeBaseUsers(ctx: AgentContext): Handler<"listKnowledgeBaseUsers"> {
  return async ({ ownerId, knowledgeBaseId }) => {
    if (!isId("kb", knowledgeBaseId)) return { agentNames: [], total: 0 };
    return listAgentsWithKnowledge(ctx.db, { ownerId, knowledgeBaseId }, NAMED_MAX);
  };
}
