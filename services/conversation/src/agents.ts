import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import { Access, type AgentKey, type AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { notFound, ServiceError } from "@parley/shared/errors";
import { batched } from "@parley/shared/rpc/batched";
import type { ServiceClient } from "@parley/shared/rpc/client";

const BATCH_MAX = 200;

/** Reads what agents run on; many reads at once are one call. */
export function agentReader(
  agents: ServiceClient<typeof AgentServiceService>,
  { withAnalysisPrompt = false } = {},
): (ownerId: string, agentId: string) => Promise<AgentRuntime> {
  const getAgent = batched<AgentKey, AgentRuntime>(
    async (keys) => {
      const { results } = await agents.batchGetAgentRuntimes({ keys: [...keys], withAnalysisPrompt });
      return keys.map((_, at) => results[at]?.runtime ?? refusal(results[at]?.access));
    },
    BATCH_MAX,
    { idOf: ({ ownerId, agentId }) => `${ownerId} ${agentId}` },
  );
  return (ownerId, agentId) => getAgent({ ownerId, agentId });
}

function refusal(access: Access | undefined): ServiceError {
  if (access === Access.ACCESS_DENIED) return new ServiceError("forbidden", "You do not have access to this agent");
  return notFound("Agent");
}
