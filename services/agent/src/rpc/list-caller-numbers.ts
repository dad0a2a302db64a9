import type { AgentContext, Handler } from "../context.ts";
import { checkAgentId, getAgentRow } from "../read-agents.ts";

/** @throws ServiceError forbidden for another owner's agent, not_found for none */
export function listCallerNumbers({ db }: AgentContext): Handler<"listCallerNumbers"> {
  return async (key) => {
    checkAgentId(key.agentId);
    const { publishedVersion, publishedNumbers, agentMobileNumbers } = await getAgentRow(db, key);
    return { mobileNumbers: publishedVersion === null ? agentMobileNumbers : publishedNumbers };
  };
}
