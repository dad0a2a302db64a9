import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { AGENT_TYPES, nameOf } from "@parley/shared/domain/api-names";
import { pageOf } from "@parley/shared/page";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";
import { toAgent } from "../convert.ts";
import { readPromptsOfPage } from "../prompts/agent-prompts.ts";
import { listAgentRows } from "../store/agents.ts";

export function listAgents(ctx: AgentContext): NonNullable<Handlers<typeof AgentServiceService>["listAgents"]> {
  return async ({ ownerId, search, agentType, agentCategory, page }, call) => {
    const wanted = pageOf(page);
    if (search.includes("\0")) return { agents: [], total: 0 };
    const filter = { ownerId, search, agentType: nameOf(AGENT_TYPES, agentType) ?? null, agentCategory };
    const { rows, total } = await listAgentRows(ctx.db, filter, wanted);
    const prompts = await readPromptsOfPage(ctx, rows, call);
    return { agents: rows.map((row) => toAgent(row, prompts.get(row))), total };
  };
}
