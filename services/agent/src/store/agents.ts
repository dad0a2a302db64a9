import type { Agent, SttConfig, TtsConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { readBoundedPage } from "@parley/shared/db/bounded-page";
import type { Database, Sql } from "@parley/shared/db/database";
import { containing } from "@parley/shared/db/like";
import { AGENT_FIELDS, type AgentField, agentFields } from "@parley/shared/domain/agent-fields";
import type { AGENT_TYPES } from "@parley/shared/domain/api-names";
import type { StoredLlm, StoredSpeech, StoredStartWebhook } from "./stored-keys.ts";

type JsonObject = Record<string, unknown>;

export interface StoredAnalysis {
  enabled: boolean;
  promptName: string | null;
  promptVersion: number | null;
  schema: JsonObject | null;
}

export const FIELDS_WITH_KEYS = ["stt", "llm", "tts", "startWebhook"] as const satisfies readonly AgentField[];
export type FieldWithKey = (typeof FIELDS_WITH_KEYS)[number];

interface Sealed {
  stt: StoredSpeech<SttConfig>;
  llm: StoredLlm;
  tts: StoredSpeech<TtsConfig>;
  startWebhook: StoredStartWebhook;
}

/** The fields that `AGENT_FIELDS` describes, with sealed keys. */
export type AgentFields = {
  [F in AgentField]: (F extends FieldWithKey ? Sealed[F] : NonNullable<Agent[F]>) | NullOf<F>;
};
type NullOf<F extends AgentField> = Extract<(typeof AGENT_FIELDS)[F]["empty"], null>;

export interface AgentRow extends AgentFields {
  ownerId: string;
  agentId: string;
  agentName: string;
  agentType: keyof typeof AGENT_TYPES;
  analysis: StoredAnalysis | null;
  promptName: string | null;
  promptVersion: number | null;
  createdAt: Date;
  updatedAt: Date;
}

// The driver writes the fields' names in snake case.
const columns = (sql: Sql) => sql`
  agents.owner_id, agents.agent_id, agent_name, agent_type, ${sql(agentFields)}, analysis, prompt_name, prompt_version,
  created_at, updated_at`;

const values = (sql: Sql, row: AgentRow) => ({
  owner_id: row.ownerId,
  agent_id: row.agentId,
  agent_name: row.agentName,
  agent_type: row.agentType,
  ...fieldValues(sql, row),
  analysis: row.analysis && sql.typed(row.analysis as never, JSON_AS_WRITTEN),
  prompt_name: row.promptName,
  prompt_version: row.promptVersion,
  created_at: row.createdAt,
  updated_at: row.updatedAt,
});

function fieldValues(sql: Sql, row: AgentFields) {
  const valueFor = (field: AgentField) => (AGENT_FIELDS[field].column === "jsonb" ? json(sql, row[field]) : row[field]);
  return Object.fromEntries(agentFields.map((field) => [field, valueFor(field)]));
}

export async function insertAgent(sql: Sql, row: AgentRow): Promise<void> {
  await sql`insert into agents ${sql(values(sql, row))}`;
}

export async function updateAgentRow(sql: Sql, row: AgentRow): Promise<void> {
  await sql`
    update agents set ${sql(values(sql, row))}
    where owner_id = ${row.ownerId} and agent_id = ${row.agentId}`;
}

export async function deleteAgentRow(sql: Sql, key: AgentKey): Promise<void> {
  await sql`delete from agents where owner_id = ${key.ownerId} and agent_id = ${key.agentId}`;
}

export async function findAgent(sql: Sql, key: AgentKey): Promise<AgentRow | null> {
  const [row] = await sql<AgentRow[]>`
    select ${columns(sql)} from agents where owner_id = ${key.ownerId} and agent_id = ${key.agentId}`;
  return row ?? null;
}

/** The same, locked until the transaction ends. */
export async function lockAgent(tx: Sql, key: AgentKey): Promise<AgentRow | null> {
  const [row] = await tx<AgentRow[]>`
    select ${columns(tx)} from agents where owner_id = ${key.ownerId} and agent_id = ${key.agentId} for update`;
  return row ?? null;
}

/** Returns the agents that exist, in any order. */
export async function findAgents(sql: Sql, keys: readonly AgentKey[]): Promise<AgentRow[]> {
  return sql<AgentRow[]>`
    select ${columns(sql)}
    from unnest(${keys.map((key) => key.ownerId)}::text[], ${keys.map((key) => key.agentId)}::text[])
      as wanted (owner_id, agent_id)
    join agents on agents.owner_id = wanted.owner_id and agents.agent_id = wanted.agent_id`;
}

/** Which of the ids belong to anyone's agents: tells "another owner's" from "none" and reads nothing else of them. */
export async function findExistingIds(sql: Sql, agentIds: readonly string[]): Promise<Set<string>> {
  const rows = await sql<
    { agentId: string }[]
  >`select agent_id from agents where agent_id = any(${agentIds as string[]})`;
  return new Set(rows.map((row) => row.agentId));
}

/** Of which of the ids there are agents, and whose. */
export async function findAgentOwners(sql: Sql, agentIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await sql<AgentKey[]>`
    select owner_id, agent_id from agents where agent_id = any(${agentIds as string[]})`;
  return new Map(rows.map(({ ownerId, agentId }) => [agentId, ownerId]));
}

/** The ids of the owner's other agents that may hand a conversation over to this one, at most `max`. */
export async function listAgentsThatHandOverTo(
  sql: Sql,
  { ownerId, agentId }: AgentKey,
  max: number,
): Promise<string[]> {
  const rows = await sql<AgentKey[]>`
    select agent_id from agents where owner_id = ${ownerId} and handoffs @> ${sql.json([{ agentId }])}
    order by agent_id limit ${max}`;
  return rows.map((row) => row.agentId);
}

/** The names of the first agents that use a knowledge base, and how many do. */
export async function listAgentsWithKnowledge(
  sql: Sql,
  { ownerId, knowledgeBaseId }: { ownerId: string; knowledgeBaseId: string },
  max: number,
): Promise<{ agentNames: string[]; total: number }> {
  const rows = await sql<{ agentName: string; total: number }[]>`
    select agent_name, count(*) over ()::integer as total from agents
    where owner_id = ${ownerId} and knowledge @> ${sql.json([{ knowledgeBaseId }])}
    order by agent_name, agent_id limit ${max}`;
  return { agentNames: rows.map(({ agentName }) => agentName), total: rows[0]?.total ?? 0 };
}

/** The ids of the owner's agents whose start webhook uses a secret, at most `max`. */
export async function listAgentsWithSecret(sql: Sql, ownerId: string, name: string, max: number): Promise<string[]> {
  const rows = await sql<AgentKey[]>`
    select agent_id from agents
    where owner_id = ${ownerId} and start_webhook @> ${sql.json({ headers: [{ secret: name }] })}
    order by agent_id limit ${max}`;
  return rows.map((row) => row.agentId);
}

/** The agents of all owners, for maintenance. */
export async function listAgentsThatMayHaveKeys(sql: Sql): Promise<AgentKey[]> {
  return sql<AgentKey[]>`
    select owner_id, agent_id from agents
    where llm is not null or stt is not null or tts is not null or start_webhook is not null`;
}

/** Locked until the transaction ends; null when the agent is gone. */
export async function lockFieldsWithKeys(tx: Sql, key: AgentKey): Promise<Pick<AgentFields, FieldWithKey> | null> {
  const [row] = await tx<Pick<AgentFields, FieldWithKey>[]>`
    select stt, llm, tts, start_webhook from agents where owner_id = ${key.ownerId} and agent_id = ${key.agentId} for update`;
  return row ?? null;
}

export async function updateFieldsWithKeys(
  sql: Sql,
  key: AgentKey,
  { stt, llm, tts, startWebhook }: Pick<AgentFields, FieldWithKey>,
): Promise<void> {
  await sql`
    update agents set stt = ${json(sql, stt)}, llm = ${json(sql, llm)}, tts = ${json(sql, tts)},
      start_webhook = ${json(sql, startWebhook)}
    where owner_id = ${key.ownerId} and agent_id = ${key.agentId}`;
}

export interface AgentFilter {
  ownerId: string;
  search: string;
  agentType: AgentRow["agentType"] | null;
  agentCategory: string;
}

const matching = (sql: Sql, filter: AgentFilter) => sql`
  owner_id = ${filter.ownerId}
  ${filter.search === "" ? sql`` : sql`and (agent_name || E'\n' || coalesce(agent_description, '')) ilike ${containing(filter.search)}`}
  ${filter.agentType === null ? sql`` : sql`and agent_type = ${filter.agentType}`}
  ${filter.agentCategory === "" ? sql`` : sql`and agent_category = ${filter.agentCategory}`}`;

/**
 * A page of the owner's agents, newest first, and the total number of matches.
 * @throws ServiceError condition when the page is too large
 */
export async function listAgentRows(
  db: Database,
  filter: AgentFilter,
  page: { number: number; size: number },
): Promise<{ rows: AgentRow[]; total: number }> {
  // One snapshot for page and total.
  return db.begin("isolation level repeatable read read only", async (tx) => {
    const [rows, [count]] = await Promise.all([
      readBoundedPage<AgentRow>(tx, {
        rows: tx`
          select ${columns(tx)} from agents where ${matching(tx, filter)}
          order by created_at desc, agent_id desc
          limit ${page.size} offset ${(page.number - 1) * page.size}`,
        bytes: tx`octet_length(page::text)`,
        order: tx`order by created_at desc, agent_id desc`,
      }),
      tx<{ total: number }[]>`select count(*) as total from agents where ${matching(tx, filter)}`,
    ]);
    return { rows, total: count?.total ?? 0 };
  });
}

/** The type `json` keeps the order of fields. */
const JSON_AS_WRITTEN = 114;

function json(sql: Sql, value: unknown) {
  return value === null ? null : sql.json(value as never);
}
