import type { AgentPrompt } from "@parley/proto/parley/agent/v1/agent.ts";
import type { AgentKey, AgentVersionKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { readCountedPage } from "@parley/shared/db/bounded-page";
import type { Fragment, Sql } from "@parley/shared/db/database";
import { AGENT_FIELDS, agentFields } from "@parley/shared/domain/agent-fields";
import { type KeyRow, keysColumn, withKeys } from "./agent-keys.ts";
import {
  type AgentFilter,
  type AgentRow,
  type AgentSettings,
  type AgentState,
  matching,
  stateColumns,
} from "./agents.ts";
import { inUse } from "./in-use.ts";
import type { ToolRow } from "./tools.ts";

/** A prompt as a version has it. */
export interface VersionPrompt {
  promptName: string;
  promptVersion: number;
  /** The hash of its text in `version_texts`. */
  text: string;
}

/** What a version keeps of an agent: its settings without secrets, and what their references led to. */
export interface VersionContent extends AgentSettings {
  prompt: VersionPrompt | null;
  analysisPrompt: VersionPrompt | null;
  /** The hashes of the definitions of its tools, in the order of `customTools`. */
  toolTexts: string[];
}

/** A tool as a version has it; its secrets are those of the library. */
export type VersionTool = Pick<ToolRow, "toolId" | "name" | "description" | "definition">;

/** A version of an agent that is read. */
export interface AgentVersion {
  agentVersion: number;
  /** SHA-256 of its content. */
  hash: string;
  /** The agent with the settings of the version. */
  row: AgentRow;
  prompt: AgentPrompt | undefined;
  analysisPrompt: AgentPrompt | undefined;
  tools: VersionTool[];
}

export interface NewVersion extends AgentVersionKey {
  content: VersionContent;
  hash: string;
  /** Those that the content refers to, by hash; may leave out what another version has. */
  texts: ReadonlyMap<string, string>;
  /** As `actorText` writes it. */
  createdBy: string;
  note: string | null;
  createdAt: Date;
}

/** Stands for the newest version, in a key. */
export const LATEST = -1;

interface FoundVersion extends AgentState {
  agentVersion: number;
  hash: string;
  content: VersionContent;
  keys: KeyRow[] | null;
  texts: Record<string, string> | null;
}

const versionColumns = (sql: Sql, texts: Fragment) => sql`
  ${stateColumns(sql)}, version.agent_version, version.hash, version.content, ${keysColumn(sql)}, (
    select json_object_agg(hash, version_texts.content) from version_texts
    where version_texts.owner_id = version.owner_id and hash = any(${texts})
  ) as texts`;

const wanted = (sql: Sql) => sql`
  version.agent_version = case wanted_version
    when 0 then published_version when ${LATEST} then latest_version else wanted_version end`;

/** Returns the versions that exist, in any order, with all their texts. @param keys 0: the published version; `LATEST`: the newest */
export function findVersions(sql: Sql, keys: readonly AgentVersionKey[]): Promise<AgentVersion[]> {
  return findWithTexts(sql, keys, sql`version.texts`);
}

/** The same as their owners see them: without the texts of analysis prompts, and without tools. */
export function findShownVersions(sql: Sql, keys: readonly AgentVersionKey[]): Promise<AgentVersion[]> {
  return findWithTexts(sql, keys, shownTexts(sql));
}

const shownTexts = (sql: Sql) => sql`array[version.content -> 'prompt' ->> 'text']`;

async function findWithTexts(sql: Sql, keys: readonly AgentVersionKey[], texts: Fragment): Promise<AgentVersion[]> {
  const rows = await sql<FoundVersion[]>`
    select ${versionColumns(sql, texts)}
    from unnest(
      ${keys.map((key) => key.ownerId)}::text[], ${keys.map((key) => key.agentId)}::text[],
      ${keys.map((key) => key.agentVersion)}::integer[]
    ) as wanted (owner_id, agent_id, wanted_version)
    join agents on agents.owner_id = wanted.owner_id and agents.agent_id = wanted.agent_id
    join agent_versions as version
      on version.owner_id = wanted.owner_id and version.agent_id = wanted.agent_id and ${wanted(sql)}`;
  return rows.map(versionOf);
}

/**
 * A page of the newest versions of the owner's agents, newest agent first, and the total number of matches.
 * @throws ServiceError condition when the page is too large
 */
export async function listNewestVersions(
  sql: Sql,
  filter: AgentFilter,
  page: { number: number; size: number },
): Promise<{ versions: AgentVersion[]; total: number }> {
  const { rows, total } = await readCountedPage<FoundVersion>(sql, {
    rows: sql`
      select ${versionColumns(sql, shownTexts(sql))}
      from (
        select * from agents where ${matching(sql, filter)}
        order by created_at desc, agent_id desc
        limit ${page.size} offset ${(page.number - 1) * page.size}
      ) as agents
      join agent_versions as version using (owner_id, agent_id)
      where version.agent_version = latest_version`,
    total: sql`select count(*) from agents where ${matching(sql, filter)}`,
    bytes: sql`octet_length(page::text)`,
    order: sql`order by created_at desc, agent_id desc`,
  });
  return { versions: rows.map(versionOf), total };
}

/** The content of a version; undefined if there is none. */
export async function findContent(
  sql: Sql,
  { ownerId, agentId, agentVersion }: AgentVersionKey,
): Promise<VersionContent | undefined> {
  const [row] = await sql<{ content: VersionContent }[]>`
    select content from agent_versions
    where owner_id = ${ownerId} and agent_id = ${agentId} and agent_version = ${agentVersion}`;
  return row?.content;
}

/** The contents of the versions that an agent's new conversations may get, of its newest, and of those that are about to get some. */
export async function listContentsInUse(
  sql: Sql,
  { ownerId, agentId }: AgentKey,
  further: readonly number[],
): Promise<VersionContent[]> {
  const rows = await sql<{ content: VersionContent }[]>`
    select content from agents join agent_versions as version using (owner_id, agent_id)
    where owner_id = ${ownerId} and agent_id = ${agentId}
      and (${inUse(sql)} or version.agent_version = any(${further as number[]}::integer[]))`;
  return rows.map(({ content }) => content);
}

/**
 * Deletes the versions that make room, at most 1,000: the oldest that no new conversation has got since then. With them go the entries of
 * the publish log that only say that a change took effect, or the log would fill the room. The owner's stored bytes must be locked.
 * @returns the number of versions deleted
 */
export async function deleteOldVersions(tx: Sql, ownerId: string, before: Date): Promise<number> {
  const names = tx`(agent_version is not null or split is not null)`;
  const gone = await tx<{ agentId: string; agentVersion: number; texts: string[] }[]>`
    with given as (
      select agent_id, agent_version, split from agent_publishes
      where owner_id = ${ownerId} and ${names} and (created_at >= ${before} or (agent_id, number) in (
        select agent_id, max(number) from agent_publishes
        where owner_id = ${ownerId} and ${names} and created_at < ${before} group by agent_id
      ))
    ), recent as (
      select agent_id, agent_version from given where agent_version is not null
      union select agent_id, (share ->> 'agentVersion')::integer from given, jsonb_array_elements(split) as share
    )
    delete from agent_versions where ctid = any(array(
      select version.ctid from agent_versions as version join agents using (owner_id, agent_id)
      where version.owner_id = ${ownerId} and version.created_at < ${before} and not coalesce(${inUse(tx)}, false)
        and (version.agent_id, version.agent_version) not in (select agent_id, agent_version from recent)
      order by version.created_at limit 1000
    )) returning agent_id, agent_version, texts`;
  await tx`
    delete from agent_publishes
    where owner_id = ${ownerId} and kind = 'automatic' and (agent_id, agent_version) in (
      select * from unnest(${gone.map(({ agentId }) => agentId)}::text[], ${gone.map(({ agentVersion }) => agentVersion)}::integer[])
    )`;
  await deleteUnusedTexts(tx, ownerId, new Set(gone.flatMap(({ texts }) => texts)));
  return gone.length;
}

/** Stores the next version of each of these agents, whose `latest_version` says so already or is about to. Of one owner. */
export async function insertVersions(tx: Sql, versions: readonly NewVersion[]): Promise<void> {
  const [first] = versions;
  if (!first) return;
  const texts = new Map(versions.flatMap((version) => [...version.texts]));
  if (texts.size > 0)
    await tx`
      insert into version_texts (owner_id, hash, content)
      select ${first.ownerId}, * from unnest(${[...texts.keys()]}::text[], ${[...texts.values()]}::text[])
      on conflict do nothing`;
  await tx`
    insert into agent_versions
      (owner_id, agent_id, agent_version, content, hash, texts, created_by, note, created_at)
    select ${first.ownerId}, agent_id, agent_version, content::json, hash,
      array(select json_array_elements_text(texts::json)), created_by, note, created_at::timestamptz
    from unnest(
      ${versions.map(({ agentId }) => agentId)}::text[],
      ${versions.map(({ agentVersion }) => agentVersion)}::integer[],
      ${versions.map(({ content }) => JSON.stringify(content))}::text[],
      ${versions.map(({ hash }) => hash)}::text[],
      ${versions.map(({ content }) => JSON.stringify(textsOf(content)))}::text[],
      ${versions.map(({ createdBy }) => createdBy)}::text[],
      ${versions.map(({ note }) => note)}::text[],
      ${versions.map(({ createdAt }) => createdAt.toISOString())}::text[]
    ) as made (agent_id, agent_version, content, hash, texts, created_by, note, created_at)`;
}

/** Deletes all versions of an agent, with the texts that no other version has. The owner's stored bytes must be locked. */
export async function deleteVersions(tx: Sql, { ownerId, agentId }: AgentKey): Promise<void> {
  const gone = await tx<{ texts: string[] }[]>`
    delete from agent_versions where owner_id = ${ownerId} and agent_id = ${agentId} returning texts`;
  await deleteUnusedTexts(tx, ownerId, new Set(gone.flatMap(({ texts }) => texts)));
}

async function deleteUnusedTexts(tx: Sql, ownerId: string, hashes: ReadonlySet<string>): Promise<void> {
  if (hashes.size === 0) return;
  await tx`
    delete from version_texts as given
    where owner_id = ${ownerId} and hash = any(${[...hashes]}::text[]) and not exists (
      select from agent_versions where owner_id = ${ownerId} and texts @> array[given.hash]
    )`;
}

/** The hashes of the texts that a content refers to. */
function textsOf({ prompt, analysisPrompt, toolTexts }: VersionContent): string[] {
  const prompts = [prompt, analysisPrompt].flatMap((each) => each?.text ?? []);
  return [...new Set([...prompts, ...toolTexts])];
}

/** What a field has that a version does not know, because it is older than the field. */
const EMPTY = Object.fromEntries(agentFields.map((field) => [field, AGENT_FIELDS[field].empty]));

function versionOf({ agentVersion, hash, content, keys, texts, ...state }: FoundVersion): AgentVersion {
  const { prompt, analysisPrompt, toolTexts, ...settings } = content;
  const promptOf = (kept: VersionPrompt | null): AgentPrompt | undefined =>
    kept
      ? { promptName: kept.promptName, promptVersion: kept.promptVersion, promptContent: texts?.[kept.text] ?? "" }
      : undefined;
  return {
    agentVersion,
    hash,
    row: withKeys({ ...EMPTY, ...state, ...settings }, keys),
    prompt: promptOf(prompt),
    analysisPrompt: promptOf(analysisPrompt),
    tools: toolTexts.flatMap((hash) => (texts?.[hash] ? (JSON.parse(texts[hash]) as VersionTool) : [])),
  };
}
