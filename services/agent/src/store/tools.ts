import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Tool } from "@parley/proto/parley/agent/v1/tool.ts";
import { readCountedPage } from "@parley/shared/db/bounded-page";
import type { Sql } from "@parley/shared/db/database";
import { containing } from "@parley/shared/db/like";
import type { TOOL_TYPES } from "@parley/shared/domain/tools";
import type { OldSecret } from "@parley/shared/signing-secrets";
import { JSON_AS_WRITTEN } from "./agents.ts";
import { inUse, using } from "./in-use.ts";

export interface ToolKey {
  ownerId: string;
  toolId: string;
}

/** What a tool does, with every default filled in. */
export type ToolDefinition = Pick<Tool, "timeoutMs" | "speech" | "interruption" | "run"> & {
  kind: NonNullable<Tool["kind"]>;
};

export interface ToolRow extends ToolKey {
  name: string;
  description: string;
  type: keyof typeof TOOL_TYPES;
  definition: ToolDefinition;
  secretNames: string[];
  /** Of HTTP tools. */
  sealedSecret: string | null;
  /** Newest first; may include expired ones. */
  oldSecrets: OldSecret[];
  createdBy: string;
  createdAt: Date;
  updatedAt: Date;
}

const columns = (sql: Sql) => sql`
  tools.owner_id, tools.tool_id, name, description, type, definition, secret_names, sealed_secret, old_secrets, created_by,
  created_at, updated_at`;

const values = (sql: Sql, row: ToolRow) => ({
  owner_id: row.ownerId,
  tool_id: row.toolId,
  name: row.name,
  description: row.description,
  type: row.type,
  definition: sql.typed(row.definition as never, JSON_AS_WRITTEN),
  secret_names: row.secretNames,
  sealed_secret: row.sealedSecret,
  old_secrets: sql.json(row.oldSecrets as never),
  created_by: row.createdBy,
  created_at: row.createdAt,
  updated_at: row.updatedAt,
});

export async function insertTool(sql: Sql, row: ToolRow): Promise<void> {
  await sql`insert into tools ${sql(values(sql, row))}`;
}

export async function updateToolRow(sql: Sql, row: ToolRow): Promise<void> {
  await sql`update tools set ${sql(values(sql, row))} where owner_id = ${row.ownerId} and tool_id = ${row.toolId}`;
}

export async function deleteToolRow(sql: Sql, { ownerId, toolId }: ToolKey): Promise<void> {
  await sql`delete from tools where owner_id = ${ownerId} and tool_id = ${toolId}`;
}

export async function findTool(sql: Sql, { ownerId, toolId }: ToolKey): Promise<ToolRow | null> {
  const [row] = await sql<ToolRow[]>`
    select ${columns(sql)} from tools where owner_id = ${ownerId} and tool_id = ${toolId}`;
  return row ?? null;
}

/** Returns the tools that exist, in any order. */
export async function findTools(sql: Sql, keys: readonly ToolKey[]): Promise<ToolRow[]> {
  return sql<ToolRow[]>`
    select ${columns(sql)}
    from unnest(${keys.map(({ ownerId }) => ownerId)}::text[], ${keys.map(({ toolId }) => toolId)}::text[])
      as wanted (owner_id, tool_id)
    join tools on tools.owner_id = wanted.owner_id and tools.tool_id = wanted.tool_id`;
}

/** Of which of the ids there are tools, and whose. */
export async function findToolOwners(sql: Sql, toolIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await sql<ToolKey[]>`select owner_id, tool_id from tools where tool_id = any(${toolIds as string[]})`;
  return new Map(rows.map(({ ownerId, toolId }) => [toolId, ownerId]));
}

export async function isNameTaken(sql: Sql, { ownerId, toolId }: ToolKey, name: string): Promise<boolean> {
  const rows = await sql`
    select from tools where owner_id = ${ownerId} and name = ${name} and tool_id <> ${toolId} limit 1`;
  return rows.length > 0;
}

/** The names by which models call the owner's tools; an MCP server has several, each with the name of its tool before it. */
export async function listToolNames(sql: Sql, ownerId: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select name from tools where owner_id = ${ownerId} and type <> 'mcp'
    union all
    select tools.name || '__' || (listed ->> 'name')
    from tools cross join json_array_elements(definition -> 'kind' -> 'value' -> 'definitions') as listed
    where owner_id = ${ownerId} and type = 'mcp'`;
  return rows.map(({ name }) => name);
}

/** The ids of the owner's agents that use a tool, at most `max`. */
export async function listAgentsWithTool(sql: Sql, { ownerId, toolId }: ToolKey, max: number): Promise<string[]> {
  const rows = await sql<AgentKey[]>`
    select agent_id from agents where owner_id = ${ownerId} and ${using(sql, ["customTools", [{ toolId }]])}
    order by agent_id limit ${max}`;
  return rows.map(({ agentId }) => agentId);
}

/** The names of the owner's tools that use a secret, in the library or in a version of an agent in use, at most `max`. */
export async function listToolsWithSecret(
  sql: Sql,
  ownerId: string,
  secretName: string,
  max: number,
): Promise<string[]> {
  // Only agents whose publishing is manual have tools other than the library's.
  const rows = await sql<{ name: string }[]>`
    with used as materialized (
      select text.content from agents join agent_versions as version using (owner_id, agent_id)
        cross join lateral json_array_elements_text(version.content -> 'toolTexts') as tool (hash)
        join version_texts as text on text.owner_id = agents.owner_id and text.hash = tool.hash
      where agents.owner_id = ${ownerId} and publishing = 'manual' and ${inUse(sql)}
    )
    select name from tools where owner_id = ${ownerId} and ${secretName} = any(secret_names)
    union
    select content::jsonb ->> 'name' from used where jsonb_path_exists(
      content::jsonb, '$.** ? (@.secret == $name || @."$case" == "secret" && @.value == $name)', ${sql.json({ name: secretName })}
    )
    order by name limit ${max}`;
  return rows.map(({ name }) => name);
}

/** The tools of all owners that have signing secrets, for maintenance. */
export async function listToolsWithSigningSecrets(sql: Sql): Promise<ToolKey[]> {
  return sql<ToolKey[]>`select owner_id, tool_id from tools where sealed_secret is not null`;
}

interface ToolFilter {
  ownerId: string;
  search: string;
  type: ToolRow["type"] | null;
}

const matching = (sql: Sql, { ownerId, search, type }: ToolFilter) => sql`
  owner_id = ${ownerId}
  ${search === "" ? sql`` : sql`and (name || E'\n' || description) ilike ${containing(search)}`}
  ${type === null ? sql`` : sql`and type = ${type}`}`;

/**
 * A page of the owner's tools, newest first, and the total number of matches.
 * @throws ServiceError condition when the page is too large
 */
export function listToolRows(
  sql: Sql,
  filter: ToolFilter,
  page: { number: number; size: number },
): Promise<{ rows: ToolRow[]; total: number }> {
  return readCountedPage<ToolRow>(sql, {
    rows: sql`
      select ${columns(sql)} from tools where ${matching(sql, filter)}
      order by created_at desc, tool_id desc
      limit ${page.size} offset ${(page.number - 1) * page.size}`,
    total: sql`select count(*) from tools where ${matching(sql, filter)}`,
    bytes: sql`octet_length(page::text)`,
    order: sql`order by created_at desc, tool_id desc`,
  });
}
