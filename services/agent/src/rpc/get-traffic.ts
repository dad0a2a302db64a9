import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";
import { checkAgentId, getAgentRow } from "../read-agents.ts";

/** @throws ServiceError forbidden for another owner's agent, not_found for none */
export function getTraffic(ctx: AgentContext): NonNullable<Handlers<typeof AgentServiceService>["getTraffic"]> {
  return async (key) => {
    checkAgentId(key.agentId);
    const { publishedVersion, traffic } = await getAgentRow(ctx.db, key);
    if (traffic) return { split: traffic.split };
    return { split: publishedVersion === null ? [] : [{ agentVersion: publishedVersion, weight: 100 }] };
  };
}
