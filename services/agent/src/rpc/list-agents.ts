import { AGENT_TYPES, nameOf } from "@parley/shared/domain/api-names";
import { pageOf } from "@parley/shared/page";
import type { AgentContext, Handler } from "../context.ts";
import { toAgent } from "../convert.ts";
import { listNewestVersions } from "../store/versions.ts";

export function listAgents(ctx: AgentContext): Handler<"listAgents"> {
  return async ({ ownerId, search, agentType, agentCategory, page }) => {
    const wanted = pageOf(page);
    if (search.includes("\0")) return { agents: [], total: 0 };
    const filter = { ownerId, search, agentType: nameOf(AGENT_TYPES, agentType) ?? null, agentCategory };
    const { versions, total } = await listNewestVersions(ctx.db, filter, wanted);
    return { agents: versions.map(toAgent), total };
  };
}
