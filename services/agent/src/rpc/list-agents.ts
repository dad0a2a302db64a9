import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { AGENT_TYPES, nameOf } from "@parley/shared/domain/api-names";
import { pageOf } from "@parley/shared/page";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";
import { toAgent } from "../convert.ts";
import { listNewestVersions } from "../store/versions.ts";

export function listAgents(ctx: AgentContext): NonNullable<Handlers<typeof AgentServiceService>["listAgents"]> {
  return async ({ ownerId, search, agentType, agentCategory, page }) => {
    const wanted = pageOf(page);
    if (search.includes("\0")) return { agents: [], total: 0 };
    const filter = { ownerId, search, agentType: nameOf(AGENT_TYPES, agentType) ?? null, agentCategory };
    const { versions, total } = await listNewestVersions(ctx.db, filter, wanted);
    return { agents: versions.map(toAgent), total };
  };
}
