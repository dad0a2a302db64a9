import type { Sql } from "@parley/shared/db/database";
import { oldestPlaces } from "@parley/shared/db/oldest-places";
import type { PromptTypeName } from "./prompts.ts";

export interface ReferringAgent {
  ownerId: string;
  agentId: string;
  agentName: string;
}

/** Serializes changes of an agent's references until the end of the transaction. */
export async function lockAgentReferences(
  sql: Sql,
  { ownerId, agentId }: Omit<ReferringAgent, "agentName">,
): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(
      hashtextextended(current_schema() || '.references.' || ${ownerId} || '.' || ${agentId}, 0)
    )`;
}

/**
 * Records a change of an agent's references, which must be locked. Returns false when a newer change came first.
 * @param goneAt when the agent was deleted, or null
 */
export async function takeRevision(
  sql: Sql,
  { ownerId, agentId }: Omit<ReferringAgent, "agentName">,
  revision: number,
  goneAt: Date | null,
): Promise<boolean> {
  const taken = await sql`
    insert into reference_revisions (owner_id, agent_id, revision, gone_at)
    values (${ownerId}, ${agentId}, ${revision}, ${goneAt})
    on conflict (owner_id, agent_id) do update set revision = excluded.revision, gone_at = excluded.gone_at
      where reference_revisions.revision <= excluded.revision
    returning 1`;
  return taken.length > 0;
}

/** Deletes a few revisions at a time, more than are added, so that no request pays for many. */
export async function deleteGoneRevisions(sql: Sql, goneBefore: Date): Promise<void> {
  const old = { where: sql`gone_at < ${goneBefore}`, by: "gone_at", limit: 10 };
  await sql`delete from reference_revisions where ctid = any(${oldestPlaces(sql, "reference_revisions", old)})`;
}

/** Returns the types of the prompts that exist, and protects those from deletion until the end of the transaction. */
export async function holdPrompts(
  sql: Sql,
  ownerId: string,
  promptNames: readonly string[],
): Promise<Map<string, PromptTypeName>> {
  const rows = await sql<{ promptName: string; promptType: PromptTypeName }[]>`
    select prompt_name, prompt_type from prompts
    where owner_id = ${ownerId} and prompt_name = any(${[...promptNames]}::text[])
    order by prompt_name for key share`;
  return new Map(rows.map((row) => [row.promptName, row.promptType]));
}

/** The types of prompts by name, without locks. */
export async function findTypes(
  sql: Sql,
  ownerId: string,
  promptNames: readonly string[],
): Promise<Map<string, PromptTypeName>> {
  const rows = await sql<{ promptName: string; promptType: PromptTypeName }[]>`
    select prompt_name, prompt_type from prompts
    where owner_id = ${ownerId} and prompt_name = any(${[...promptNames]}::text[])`;
  return new Map(rows.map((row) => [row.promptName, row.promptType]));
}

/** Adds references to locked prompts and updates the agent's name. */
export async function insertReferences(sql: Sql, agent: ReferringAgent, promptNames: readonly string[]): Promise<void> {
  await sql`
    insert into prompt_references (owner_id, prompt_name, agent_id, agent_name)
    select ${agent.ownerId}, prompt_name, ${agent.agentId}, ${agent.agentName}
    from unnest(${[...promptNames]}::text[]) as wanted (prompt_name)
    on conflict (owner_id, prompt_name, agent_id) do update set agent_name = excluded.agent_name
      where prompt_references.agent_name <> excluded.agent_name`;
}

export async function deleteReferencesExcept(
  sql: Sql,
  { ownerId, agentId }: Omit<ReferringAgent, "agentName">,
  promptNames: readonly string[],
): Promise<void> {
  await sql`
    delete from prompt_references
    where owner_id = ${ownerId} and agent_id = ${agentId} and prompt_name <> all(${[...promptNames]}::text[])`;
}

/** The first agents that use a prompt, by name, and the total number of such agents. */
export async function listReferringAgents(
  sql: Sql,
  ownerId: string,
  promptName: string,
  limit: number,
): Promise<{ agents: Omit<ReferringAgent, "ownerId">[]; total: number }> {
  const rows = await sql<{ agentId: string; agentName: string; total: number }[]>`
    select agent_id, agent_name, count(*) over () as total from prompt_references
    where owner_id = ${ownerId} and prompt_name = ${promptName}
    order by agent_name, agent_id limit ${limit}`;
  return { agents: rows.map(({ agentId, agentName }) => ({ agentId, agentName })), total: rows[0]?.total ?? 0 };
}

/** Deletes the prompts created for a deleted agent. One that another agent uses stays as an ordinary prompt. */
export async function deleteInternalPrompts(sql: Sql, ownerId: string, agentId: string): Promise<void> {
  await sql`
    select 1 from prompts where owner_id = ${ownerId} and internal_agent_id = ${agentId}
    order by prompt_name for update`;
  await sql`
    update prompts p set internal_agent_id = null
    where owner_id = ${ownerId} and internal_agent_id = ${agentId} and exists (
      select 1 from prompt_references r where r.owner_id = p.owner_id and r.prompt_name = p.prompt_name
    )`;
  await sql`delete from prompts where owner_id = ${ownerId} and internal_agent_id = ${agentId}`;
}
