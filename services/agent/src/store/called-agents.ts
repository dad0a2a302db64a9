import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Sql } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";

/**
 * At most two agents with this id or number.
 * @param called an agent's id, or a number in E.164 form
 * @param ownerId whose agents; null: anyone's
 */
export function findAgentsCalled(sql: Sql, called: string, ownerId: string | null): Promise<AgentKey[]> {
  return sql<AgentKey[]>`
    select owner_id, agent_id from agents
    where (agent_id = ${called} or agent_mobile_numbers @> ${[called]}) and (${ownerId}::text is null or owner_id = ${ownerId})
    limit 2`;
}

export interface WidgetRow {
  ownerId: string;
  agentName: string;
  widgetConfig: Record<string, unknown> | null;
}

/** The look of an agent of any owner. */
export async function findWidget(sql: Sql, agentId: string): Promise<WidgetRow | null> {
  const [row] = await sql<WidgetRow[]>`
    select owner_id, agent_name, widget_config from agents where agent_id = ${agentId}`;
  return row ?? null;
}

/** Keeps the owner's numbers as they are until the transaction ends. Comes before the locks of agents, whom a move locks too. */
export async function lockNumbers(tx: Sql, ownerId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended('agent.mobile_numbers.' || ${ownerId}, 0))`;
}

/**
 * The owner's numbers must be locked.
 * @param numbers that an agent is about to get
 * @throws ServiceError conflict if another agent of the owner answers one of them: a call could be for either
 */
export async function requireFreeNumbers(tx: Sql, agent: AgentKey, numbers: readonly string[]): Promise<void> {
  if (numbers.length === 0) return;
  const [other] = await tx<{ agentId: string; agentMobileNumbers: string[] }[]>`
    select agent_id, agent_mobile_numbers from agents
    where owner_id = ${agent.ownerId} and agent_id <> ${agent.agentId} and agent_mobile_numbers && ${numbers as string[]}
    order by agent_id limit 1`;
  if (!other) return;
  const taken = numbers.find((number) => other.agentMobileNumbers.includes(number));
  const detail = `agent_mobile_number ${taken} is already answered by the agent ${other.agentId}: take it over with ?move_numbers=true`;
  throw new ServiceError("conflict", detail);
}

/** Takes the numbers away from the owner's other agents. The owner's numbers must be locked. */
export async function freeNumbers(tx: Sql, agent: AgentKey, numbers: readonly string[], now: Date): Promise<void> {
  if (numbers.length === 0) return;
  await tx`
    update agents set
      agent_mobile_numbers = array(
        select number from unnest(agent_mobile_numbers) with ordinality as had (number, place)
        where number <> all(${numbers as string[]}) order by place
      ),
      updated_at = greatest(${now}, updated_at + interval '1 millisecond')
    where owner_id = ${agent.ownerId} and agent_id <> ${agent.agentId} and agent_mobile_numbers && ${numbers as string[]}`;
}
