import type { AgentContext, Handler } from "../context.ts";
import { checkAgentId, getAgentRow } from "../read-agents.ts";

/** @throws ServiceError forbidden for another owner's agent, not_found for none */
export function getTraffic(ctx: AgentContext): Handler<"getTraffic"> {
  return async (key) => {
    checkAgentId(key.agentId);
    const { publishedVersion, traffic } = await getAgentRow(ctx.db, key);
    if (traffic) return { split: traffic.split };
    return { split: publishedVersion === null ? [] : [{ agentVersion: publishedVersion, weight: 100 }] };
  };
}
