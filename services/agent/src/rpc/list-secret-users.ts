import type { AgentContext, Handler } from "../context.ts";
import { listAgentsWithSecret } from "../store/agents.ts";
import { listToolsWithSecret } from "../store/tools.ts";

/** Tools and agents that a refusal names, of each. */
const NAMED_MAX = 10;

export function listSecretUsers(ctx: AgentContext): Handler<"listSecretUsers"> {
  return async ({ ownerId, secretName }) => {
    if (secretName.includes("\0")) return { toolNames: [], agentIds: [] };
    const [toolNames, agentIds] = await Promise.all([
      listToolsWithSecret(ctx.db, ownerId, secretName, NAMED_MAX),
      listAgentsWithSecret(ctx.db, ownerId, secretName, NAMED_MAX),
    ]);
    return { toolNames, agentIds };
  };
}
