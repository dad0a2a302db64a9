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

/** A prompt that an agent uses: the label that it follows, if it follows one. */
export interface Reference {
  promptName: string;
  promptLabel: string | null;
}

/**
 * Returns the types of the prompts that exist. Protects those from deletion, and keeps their versions and labels as they are, until
 * the end of the transaction.
 */
export async function holdPrompts(
  sql: Sql,
  ownerId: string,
  promptNames: readonly string[],
): Promise<Map<string, PromptTypeName>> {
  const rows = await sql<{ promptName: string; promptType: PromptTypeName }[]>`
    select prompt_name, prompt_type from prompts
    where owner_id = ${ownerId} and prompt_name = any(${[...promptNames]}::text[])
    order by prompt_name for share`;
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
export async function addReferences(sql: Sql, agent: ReferringAgent, references: readonly Reference[]): Promise<void> {
  await sql`
    insert into prompt_references as r (owner_id, prompt_name, agent_id, agent_name, labels)
    ${given(sql, agent, references)}
    on conflict (owner_id, prompt_name, agent_id) do update set agent_name = excluded.agent_name,
      labels = array(select distinct unnest(r.labels || excluded.labels) order by 1)
      where r.agent_name <> excluded.agent_name or not r.labels @> excluded.labels`;
}

/** Makes the references to these locked prompts the agent's only ones, and updates its name. */
export async function replaceReferences(
  sql: Sql,
  agent: ReferringAgent,
  references: readonly Reference[],
): Promise<void> {
  const names = references.map(({ promptName }) => promptName);
  await sql`
    delete from prompt_references
    where owner_id = ${agent.ownerId} and agent_id = ${agent.agentId} and prompt_name <> all(${names}::text[])`;
  await sql`
    insert into prompt_references as r (owner_id, prompt_name, agent_id, agent_name, labels)
    ${given(sql, agent, references)}
    on conflict (owner_id, prompt_name, agent_id) do update
      set agent_name = excluded.agent_name, labels = excluded.labels
      where r.agent_name <> excluded.agent_name or r.labels <> excluded.labels`;
}

const given = (sql: Sql, { ownerId, agentId, agentName }: ReferringAgent, references: readonly Reference[]) => sql`
  select ${ownerId}, prompt_name, ${agentId}, ${agentName},
    coalesce(array_agg(distinct label order by label) filter (where label is not null), '{}')
  from unnest(
    ${references.map(({ promptName }) => promptName)}::text[], ${references.map(({ promptLabel }) => promptLabel)}::text[]
  ) as given (prompt_name, label)
  group by prompt_name`;

/** A prompt that agents may use. */
export interface Used {
  ownerId: string;
  promptName: string;
  /** Only by the agents that follow this label. */
  label?: string;
  /** Only by other agents than this one. */
  exceptAgentId?: string;
}

export async function isUsed(sql: Sql, { ownerId, promptName, label, exceptAgentId = "" }: Used): Promise<boolean> {
  const followed = label ?? null;
  const rows = await sql`
    select from prompt_references
    where owner_id = ${ownerId} and prompt_name = ${promptName} and agent_id <> ${exceptAgentId}
      and (${followed}::text is null or ${followed} = any(labels))
    limit 1`;
  return rows.length > 0;
}

export interface PromptUserRow extends Omit<ReferringAgent, "ownerId"> {
  /** The labels that the agent follows. */
  labels: string[];
}

/**
 * The first agents that use a prompt, by name, and the total number of such agents.
 * @param label only of those that follow it; null for all
 */
export async function listReferringAgents(
  sql: Sql,
  { ownerId, promptName, label }: { ownerId: string; promptName: string; label: string | null },
  limit: number,
): Promise<{ agents: PromptUserRow[]; total: number }> {
  const rows = await sql<(PromptUserRow & { total: number })[]>`
    select agent_id, agent_name, labels, count(*) over () as total from prompt_references
    where owner_id = ${ownerId} and prompt_name = ${promptName} and (${label}::text is null or ${label} = any(labels))
    order by agent_name, agent_id limit ${limit}`;
  return { agents: rows.map(({ total: _, ...agent }) => agent), total: rows[0]?.total ?? 0 };
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
