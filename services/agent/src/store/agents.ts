import type { Agent } from "@parley/proto/parley/agent/v1/agent.ts";
import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Sql } from "@parley/shared/db/database";
import { containing } from "@parley/shared/db/like";
import { AGENT_FIELDS, type AgentField, agentFields } from "@parley/shared/domain/agent-fields";
import type { AGENT_TYPES } from "@parley/shared/domain/api-names";
import { type KeyRow, keysColumn, keysOf, storeKeys, withKeys, withoutKeys } from "./agent-keys.ts";
import { using } from "./in-use.ts";
import type { FieldsWithKeys } from "./stored-keys.ts";

type JsonObject = Record<string, unknown>;

/** A prompt that an agent refers to. Without a version or a label it follows the latest. */
export interface StoredReference {
  promptName: string | null;
  promptVersion: number | null;
  promptLabel: string | null;
}

export const NO_REFERENCE: StoredReference = { promptName: null, promptVersion: null, promptLabel: null };

export interface StoredAnalysis extends StoredReference {
  enabled: boolean;
  schema: JsonObject | null;
}

export const FIELDS_WITH_KEYS = ["stt", "llm", "tts", "startWebhook"] as const satisfies readonly AgentField[];
export type FieldWithKey = (typeof FIELDS_WITH_KEYS)[number];

/** The fields that `AGENT_FIELDS` describes, with sealed keys. */
export type AgentFields = {
  [F in AgentField]: F extends FieldWithKey ? FieldsWithKeys[F] : NonNullable<Agent[F]> | NullOf<F>;
};
type NullOf<F extends AgentField> = Extract<(typeof AGENT_FIELDS)[F]["empty"], null>;

/** What a version of an agent keeps, without what its references lead to. */
export interface AgentSettings extends AgentFields, StoredReference {
  agentName: string;
  agentType: keyof typeof AGENT_TYPES;
  analysis: StoredAnalysis | null;
}

/** Which share of an agent's new conversations gets which version. */
interface Traffic {
  split: TrafficShare[];
  salt: string;
  /** The version of each of 100 slots. */
  slots: number[];
}

export interface TrafficShare {
  agentVersion: number;
  /** Percent. */
  weight: number;
}

/** What an agent has beside its settings. */
export interface AgentState extends AgentKey {
  publishing: "auto" | "manual";
  latestVersion: number;
  publishedVersion: number | null;
  /** The numbers that it answers. */
  publishedNumbers: string[];
  traffic: Traffic | null;
  keysRevision: number;
  createdAt: Date;
  updatedAt: Date;
}

/** An agent's newest state, or a version of it in the place of that. */
export interface AgentRow extends AgentSettings, AgentState {}

export const stateColumns = (sql: Sql) => sql`
  agents.owner_id, agents.agent_id, publishing, latest_version, published_version, published_numbers, traffic, keys_revision,
  agents.created_at, updated_at`;

// The driver writes the fields' names in snake case.
const columns = (sql: Sql) => sql`
  ${stateColumns(sql)}, agent_name, agent_type, ${sql(agentFields)}, analysis, prompt_name, prompt_version, prompt_label,
  ${keysColumn(sql)}`;

type FoundAgent = AgentRow & { keys: KeyRow[] | null };

function rowOf({ keys, ...row }: FoundAgent): AgentRow {
  return withKeys(row, keys);
}

const values = (sql: Sql, row: AgentRow) => ({
  owner_id: row.ownerId,
  agent_id: row.agentId,
  agent_name: row.agentName,
  agent_type: row.agentType,
  ...fieldValues(sql, { ...row, ...withoutKeys(row) }),
  analysis: row.analysis && sql.typed(row.analysis as never, JSON_AS_WRITTEN),
  prompt_name: row.promptName,
  prompt_version: row.promptVersion,
  prompt_label: row.promptLabel,
  publishing: row.publishing,
  latest_version: row.latestVersion,
  published_version: row.publishedVersion,
  published_numbers: row.publishedNumbers,
  traffic: json(sql, row.traffic),
  created_at: row.createdAt,
  updated_at: row.updatedAt,
});

function fieldValues(sql: Sql, row: AgentFields) {
  const valueFor = (field: AgentField) => (AGENT_FIELDS[field].column === "jsonb" ? json(sql, row[field]) : row[field]);
  return Object.fromEntries(agentFields.map((field) => [field, valueFor(field)]));
}

export async function insertAgent(sql: Sql, row: AgentRow): Promise<void> {
  await storeKeys(sql, row, keysOf(row));
  await sql`insert into agents ${sql(values(sql, row))}`;
}

/** Leaves its revision of keys to this statement, which counts up when one of them changes. */
export async function updateAgentRow(sql: Sql, row: AgentRow): Promise<void> {
  const isKeyChanged = await storeKeys(sql, row, keysOf(row));
  await sql`
    update agents set ${sql(values(sql, row))}, keys_revision = keys_revision + ${isKeyChanged ? 1 : 0}
    where owner_id = ${row.ownerId} and agent_id = ${row.agentId}`;
}

/** For a change of a key that any of the owner's agents may use. */
export async function raiseKeysRevisions(tx: Sql, ownerId: string): Promise<void> {
  await tx`update agents set keys_revision = keys_revision + 1 where owner_id = ${ownerId}`;
}

export async function deleteAgentRow(sql: Sql, key: AgentKey): Promise<void> {
  await sql`delete from agents where owner_id = ${key.ownerId} and agent_id = ${key.agentId}`;
}

export async function findAgent(sql: Sql, key: AgentKey): Promise<AgentRow | null> {
  const [row] = await sql<FoundAgent[]>`
    select ${columns(sql)} from agents where owner_id = ${key.ownerId} and agent_id = ${key.agentId}`;
  return row ? rowOf(row) : null;
}

/** The same, locked until the transaction ends. */
export async function lockAgent(tx: Sql, key: AgentKey): Promise<AgentRow | null> {
  const [row] = await tx<FoundAgent[]>`
    select ${columns(tx)} from agents where owner_id = ${key.ownerId} and agent_id = ${key.agentId} for update`;
  return row ? rowOf(row) : null;
}

/** Returns the states of the agents that exist, in any order. */
export async function findStates(sql: Sql, keys: readonly AgentKey[]): Promise<AgentState[]> {
  return sql<AgentState[]>`
    select ${stateColumns(sql)}
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
    select agent_id from agents where owner_id = ${ownerId} and agent_id <> ${agentId} and ${using(sql, ["handoffs", [{ agentId }]])}
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
    where owner_id = ${ownerId} and ${using(sql, ["knowledge", [{ knowledgeBaseId }]])}
    order by agent_name, agent_id limit ${max}`;
  return { agentNames: rows.map(({ agentName }) => agentName), total: rows[0]?.total ?? 0 };
}

/** The ids of the owner's agents whose models or start webhook use a secret, at most `max`. */
export async function listAgentsWithSecret(sql: Sql, ownerId: string, name: string, max: number): Promise<string[]> {
  const key = { keySecret: name };
  const uses = using(
    sql,
    ["startWebhook", { headers: [{ secret: name }] }],
    ["stt", { endpoint: key }],
    ["llm", { params: key }],
    ["llm", { fallbacks: [{ params: key }] }],
    ["tts", { endpoint: key }],
  );
  const rows = await sql<AgentKey[]>`
    select agent_id from agents where owner_id = ${ownerId} and ${uses} order by agent_id limit ${max}`;
  return rows.map((row) => row.agentId);
}

export interface AgentFilter {
  ownerId: string;
  search: string;
  agentType: AgentRow["agentType"] | null;
  agentCategory: string;
}

export const matching = (sql: Sql, filter: AgentFilter) => sql`
  owner_id = ${filter.ownerId}
  ${filter.search === "" ? sql`` : sql`and (agent_name || E'\n' || coalesce(agent_description, '')) ilike ${containing(filter.search)}`}
  ${filter.agentType === null ? sql`` : sql`and agent_type = ${filter.agentType}`}
  ${filter.agentCategory === "" ? sql`` : sql`and agent_category = ${filter.agentCategory}`}`;

/** The type `json` keeps the order of fields. */
export const JSON_AS_WRITTEN = 114;

function json(sql: Sql, value: unknown) {
  return value === null ? null : sql.json(value as never);
}
