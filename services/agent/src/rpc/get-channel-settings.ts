import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";
import { checkAgentId, getVersion } from "../read-agents.ts";

/** Those of the published version. @throws ServiceError forbidden for another owner's agent, not_found for none, conflict if none is published */
export function getChannelSettings(
  ctx: AgentContext,
): NonNullable<Handlers<typeof AgentServiceService>["getChannelSettings"]> {
  return async (key) => {
    checkAgentId(key.agentId);
    const { row } = await getVersion(ctx.db, key);
    return { whatsapp: row.whatsapp ?? undefined };
  };
}
