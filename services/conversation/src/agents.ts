import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import { Access, type AgentKey, type AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { notFound, ServiceError } from "@parley/shared/errors";
import type { ServiceClient } from "@parley/shared/rpc/client";
import DataLoader from "dataloader";

const BATCH_MAX = 200;

/** Reads what agents run on; all reads of one tick are one call. */
export function agentReader(
  agents: ServiceClient<typeof AgentServiceService>,
): (ownerId: string, agentId: string) => Promise<AgentRuntime> {
  const loader = new DataLoader<AgentKey, AgentRuntime>(
    async (keys) => {
      const { results } = await agents.batchGetAgentRuntimes({ keys: [...keys] });
      return keys.map((_, at) => results[at]?.runtime ?? refusal(results[at]?.access));
    },
    { cache: false, maxBatchSize: BATCH_MAX },
  );
  return (ownerId, agentId) => loader.load({ ownerId, agentId });
}

function refusal(access: Access | undefined): ServiceError {
  if (access === Access.ACCESS_DENIED) return new ServiceError("forbidden", "You do not have access to this agent");
  return notFound("Agent");
}
