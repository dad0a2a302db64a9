import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Sql } from "@parley/shared/db/database";

/**
 * At most two agents with this id or number.
 * @param called an agent's id, or a number in E.164 form
 * @param ownerId whose agents; null: anyone's
 */
export function findAgentsCalled(sql: Sql, called: string, ownerId: string | null): Promise<AgentKey[]> {
  return sql<AgentKey[]>`
    select owner_id, agent_id from agents
    where (agent_id = ${called} or published_numbers @> ${[called]}) and (${ownerId}::text is null or owner_id = ${ownerId})
    limit 2`;
}

/** The owner of an agent; null if there is none. */
export async function findOwnerOf(sql: Sql, agentId: string): Promise<string | null> {
  const [row] = await sql<AgentKey[]>`select owner_id, agent_id from agents where agent_id = ${agentId}`;
  return row?.ownerId ?? null;
}

/** Another agent of the owner that answers one of the numbers. The owner's stored bytes must be locked. */
export async function findAnswering(
  tx: Sql,
  agent: AgentKey,
  numbers: readonly string[],
): Promise<{ agentId: string; publishedNumbers: string[] } | null> {
  if (numbers.length === 0) return null;
  const [other] = await tx<{ agentId: string; publishedNumbers: string[] }[]>`
    select agent_id, published_numbers from agents
    where owner_id = ${agent.ownerId} and agent_id <> ${agent.agentId} and published_numbers && ${numbers as string[]}
    order by agent_id limit 1`;
  return other ?? null;
}

/** The owner's other agents that answer one of the numbers, locked until the transaction ends. The owner's stored bytes must be locked. */
export async function listAnswering(tx: Sql, agent: AgentKey, numbers: readonly string[]): Promise<AgentKey[]> {
  if (numbers.length === 0) return [];
  return tx<AgentKey[]>`
    select owner_id, agent_id from agents
    where owner_id = ${agent.ownerId} and agent_id <> ${agent.agentId} and published_numbers && ${numbers as string[]}
    order by agent_id for update`;
}
