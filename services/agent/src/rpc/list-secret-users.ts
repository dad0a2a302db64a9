import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";
import { listAgentsWithSecret } from "../store/agents.ts";
import { listToolsWithSecret } from "../store/tools.ts";

/** Tools and agents that a refusal names, of each. */
const NAMED_MAX = 10;

export function listSecretUsers(
  ctx: AgentContext,
): NonNullable<Handlers<typeof AgentServiceService>["listSecretUsers"]> {
  return async ({ ownerId, secretName }) => {
    if (secretName.includes("\0")) return { toolNames: [], agentIds: [] };
    const [toolNames, agentIds] = await Promise.all([
      listToolsWithSecret(ctx.db, ownerId, secretName, NAMED_MAX),
      listAgentsWithSecret(ctx.db, ownerId, secretName, NAMED_MAX),
    ]);
    return { toolNames, agentIds };
  };
}
