import { readBoundedPage } from "@parley/shared/db/bounded-page";
import type { Sql } from "@parley/shared/db/database";
import type { PROMPT_TYPES } from "@parley/shared/domain/api-names";
import { labelsOf } from "./labels.ts";

export type PromptTypeName = keyof typeof PROMPT_TYPES;

/** One version of a prompt. */
export interface PromptRow {
  promptName: string;
  promptVersion: number;
  promptContent: string;
  promptType: PromptTypeName;
  /** When the first version was created. */
  createdAt: Date;
  /** When this version was created. */
  updatedAt: Date;
  labels: string[];
}

export interface PromptFilter {
  ownerId: string;
  /** Substring of the name or content; empty matches all. */
  search: string;
  /** When false, every version is a separate item. */
  latestOnly: boolean;
}

export interface Page {
  /** 1 is the first. */
  number: number;
  size: number;
}

export interface FoundPage {
  rows: PromptRow[];
  /** Over all pages. */
  total: number;
}

interface NewVersion {
  ownerId: string;
  promptName: string;
  /** Used for a new prompt; an existing one keeps its id. */
  promptId: string;
  /** Null means main for a new prompt, and the existing type for another version. */
  promptType: PromptTypeName | null;
  /** For a new prompt, the agent that it is created for. */
  internalAgentId: string | null;
  promptContent: string;
  /** Whether only a prompt that does not exist may be inserted. */
  newOnly?: boolean;
  now: Date;
}

type InsertedRow = Omit<PromptRow, "promptContent" | "labels">;

/**
 * Inserts version 1, or the next version when the name exists. Concurrent calls queue on the prompt's row.
 * @returns null when the prompt exists with another type, or at all with `newOnly`
 */
export async function insertVersion(sql: Sql, version: NewVersion): Promise<PromptRow | null> {
  const { ownerId, promptName, promptId, promptType, internalAgentId, promptContent, newOnly = false, now } = version;
  const [row] = await sql<InsertedRow[]>`
    with prompt as (
      insert into prompts
        (owner_id, prompt_name, prompt_id, prompt_type, latest_version, internal_agent_id, created_at, updated_at)
      values
        (${ownerId}, ${promptName}, ${promptId}, ${promptType ?? "main"}, 1, ${internalAgentId}, ${now}, ${now})
      on conflict (owner_id, prompt_name) do update
        set latest_version = prompts.latest_version + 1, updated_at = greatest(prompts.updated_at, excluded.updated_at)
        where not ${newOnly} and prompts.prompt_type = coalesce(${promptType}, prompts.prompt_type)
      returning owner_id, prompt_name, prompt_type, latest_version, created_at, updated_at
    ), version as (
      insert into prompt_versions (owner_id, prompt_name, prompt_version, content, created_at)
      select owner_id, prompt_name, latest_version, ${promptContent}, updated_at from prompt
    )
    select prompt_name, latest_version as prompt_version, prompt_type, created_at, updated_at from prompt`;
  return row ? { ...row, promptContent, labels: [] } : null;
}

/** Inserts the next version of a prompt; returns null when there is no such prompt. */
export async function insertNextVersion(
  sql: Sql,
  { ownerId, promptName, promptContent, now }: Pick<NewVersion, "ownerId" | "promptName" | "promptContent" | "now">,
): Promise<PromptRow | null> {
  const [row] = await sql<InsertedRow[]>`
    with prompt as (
      update prompts set latest_version = latest_version + 1, updated_at = greatest(updated_at, ${now})
      where owner_id = ${ownerId} and prompt_name = ${promptName}
      returning owner_id, prompt_name, prompt_type, latest_version, created_at, updated_at
    ), version as (
      insert into prompt_versions (owner_id, prompt_name, prompt_version, content, created_at)
      select owner_id, prompt_name, latest_version, ${promptContent}, updated_at from prompt
    )
    select prompt_name, latest_version as prompt_version, prompt_type, created_at, updated_at from prompt`;
  return row ? { ...row, promptContent, labels: [] } : null;
}

export interface VersionKey {
  ownerId: string;
  promptName: string;
  /** Null for the one that has the label, or for the latest. */
  promptVersion: number | null;
  promptLabel: string | null;
}

/** A version, and how often it appears in the response. */
export interface WantedVersion extends VersionKey {
  places: number;
}

/**
 * Reads versions of many owners in one query: one entry per key, in order, null where there is none. Materialized,
 * because otherwise the planner reads every version of a prompt and drops the others.
 */
export async function findVersions(sql: Sql, keys: readonly VersionKey[]): Promise<(PromptRow | null)[]> {
  const rows = await sql<PlacedRow[]>`
    with wanted as materialized (${wantedVersions(sql, keys)})
    select ${versionColumns(sql)}
    from wanted join prompt_versions v using (owner_id, prompt_name, prompt_version)`;
  return inPlaces(keys, rows);
}

/** The same for a page of a list. @throws ServiceError condition when the contents are too large together */
export async function findVersionsOfPage(sql: Sql, keys: readonly WantedVersion[]): Promise<(PromptRow | null)[]> {
  const rows = await readBoundedPage<PlacedRow>(sql, {
    rows: sql`
      with wanted as materialized (${wantedVersions(sql, keys)})
      select ${versionColumns(sql)}
      from wanted join prompt_versions v using (owner_id, prompt_name, prompt_version)`,
    bytes: sql`octet_length(prompt_content)::bigint * (${keys.map((key) => key.places)}::integer[])[place]`,
    order: sql``,
  });
  return inPlaces(keys, rows);
}

type PlacedRow = PromptRow & { place: number };

function inPlaces(keys: readonly VersionKey[], rows: readonly PlacedRow[]): (PromptRow | null)[] {
  const found = new Array<PromptRow | null>(keys.length).fill(null);
  for (const { place, ...row } of rows) found[place - 1] = row;
  return found;
}

const wantedVersions = (sql: Sql, keys: readonly VersionKey[]) => sql`
  select place, p.owner_id, p.prompt_name, p.prompt_type, p.created_at,
    case
      when asked.prompt_version is not null then asked.prompt_version
      when asked.label is null then p.latest_version
      else (
        select l.prompt_version from prompt_labels l
        where l.owner_id = asked.owner_id and l.prompt_name = asked.prompt_name and l.label = asked.label
      )
    end as prompt_version
  from unnest(
    ${keys.map((key) => key.ownerId)}::text[],
    ${keys.map((key) => key.promptName)}::text[],
    ${keys.map((key) => key.promptVersion)}::int[],
    ${keys.map((key) => key.promptLabel)}::text[]
  ) with ordinality as asked (owner_id, prompt_name, prompt_version, label, place)
  join prompts p on p.owner_id = asked.owner_id and p.prompt_name = asked.prompt_name`;

const versionColumns = (sql: Sql) => sql`
  place, prompt_name, prompt_version, v.content as prompt_content, prompt_type, wanted.created_at,
  v.created_at as updated_at, ${labelsOf(sql, sql`v`)} as labels`;

/** Every version of a prompt, newest first. @throws ServiceError condition when they are too large together */
export async function listVersions(
  sql: Sql,
  ownerId: string,
  promptName: string,
): Promise<Pick<PromptRow, "promptVersion" | "promptContent" | "createdAt" | "labels">[]> {
  return readBoundedPage(sql, {
    rows: sql`
      select prompt_version, content as prompt_content, created_at, ${labelsOf(sql, sql`v`)} as labels
      from prompt_versions v
      where owner_id = ${ownerId} and prompt_name = ${promptName}`,
    bytes: sql`octet_length(prompt_content) + ${VERSION_BYTES}::integer`,
    order: sql`order by prompt_version desc`,
    remedy: "read the versions one by one, with ?version=",
  });
}

/** A version without its content. */
const VERSION_BYTES = 100;

/**
 * Locks a prompt against new references and versions until the end of the transaction, which must delete it. Returns
 * whether it exists.
 */
export async function lockPromptToDelete(sql: Sql, ownerId: string, promptName: string): Promise<boolean> {
  const rows = await sql`
    select 1 from prompts where owner_id = ${ownerId} and prompt_name = ${promptName} for update`;
  return rows.length > 0;
}

/** @returns the number of versions deleted with the prompt */
export async function deletePromptRow(sql: Sql, ownerId: string, promptName: string): Promise<number> {
  const versions = await sql`
    delete from prompt_versions where owner_id = ${ownerId} and prompt_name = ${promptName}`;
  await sql`delete from prompts where owner_id = ${ownerId} and prompt_name = ${promptName}`;
  return versions.count;
}
