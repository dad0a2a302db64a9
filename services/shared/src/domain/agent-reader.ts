import { Access, type AgentKey, type AgentVersionKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { notFound, ServiceError } from "../errors.ts";
import { batched } from "../rpc/batched.ts";

const BATCH_MAX = 200;

/**
 * Reads agents, or versions of them, one at a time by a call that reads many; many reads at once are one call.
 * @param readMany in the order of the keys; `found` is undefined when the owner has no such agent
 * @returns a reader that throws ServiceError forbidden for another owner's agent, not_found for none
 */
export function agentReader<K extends AgentKey & Partial<AgentVersionKey>, A>(
  readMany: (keys: K[]) => Promise<readonly { found: A | undefined; access: Access }[]>,
): (key: K) => Promise<A> {
  return batched<K, A>(
    async (keys) => {
      const results = await readMany([...keys]);
      return keys.map((_, at) => results[at]?.found ?? refusal(results[at]?.access));
    },
    BATCH_MAX,
    { idOf: ({ ownerId, agentId, agentVersion = 0 }) => `${ownerId} ${agentId} ${agentVersion}` },
  );
}

function refusal(access: Access | undefined): ServiceError {
  if (access === Access.ACCESS_DENIED) return new ServiceError("forbidden", "You do not have access to this agent");
  return notFound("Agent");
}
