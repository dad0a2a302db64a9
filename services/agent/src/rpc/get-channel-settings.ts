import type { AgentContext, Handler } from "../context.ts";
import { checkAgentId, getVersion } from "../read-agents.ts";

/** Those of the published version. @throws ServiceError forbidden for another owner's agent, not_found for none, conflict if none is published */
export function getChannelSettings(ctx: AgentContext): Handler<"getChannelSettings"> {
  return async (key) => {
    checkAgentId(key.agentId);
    const { row } = await getVersion(ctx.db, key);
    return { whatsapp: row.whatsapp ?? undefined };
  };
}
