import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { readCountedPage } from "@parley/shared/db/bounded-page";
import type { Sql } from "@parley/shared/db/database";
import type { PublishRow } from "./publishes.ts";

/** A version without its content. */
interface ListedVersion {
  agentVersion: number;
  note: string | null;
  /** As `actorText` writes it. */
  createdBy: string;
  createdAt: Date;
  isPublished: boolean;
  /** Percent of the new conversations that get it. */
  weight: number;
}

interface Page {
  number: number;
  size: number;
}

const listedColumns = (sql: Sql) => sql`
  agent_version, note, version.created_by, version.created_at,
  coalesce(agent_version = published_version, false) as is_published,
  coalesce(case when traffic is null then case agent_version when published_version then 100 end else (
    select (share ->> 'weight')::integer from jsonb_array_elements(traffic -> 'split') as share
    where (share ->> 'agentVersion')::integer = agent_version
  ) end, 0) as weight`;

/** A page of an agent's versions, newest first, and how many there are. @throws ServiceError condition when the page is too large */
export async function listVersions(
  sql: Sql,
  { ownerId, agentId }: AgentKey,
  { number, size }: Page,
): Promise<{ rows: ListedVersion[]; total: number }> {
  return readCountedPage<ListedVersion>(sql, {
    from: sql``,
    rows: sql`
      select ${listedColumns(sql)}
      from agent_versions as version join agents using (owner_id, agent_id)
      where owner_id = ${ownerId} and agent_id = ${agentId}
      order by agent_version desc limit ${size} offset ${(number - 1) * size}`,
    total: sql`select count(*) from agent_versions where owner_id = ${ownerId} and agent_id = ${agentId}`,
    bytes: sql`octet_length(page::text)`,
    order: sql`order by agent_version desc`,
  });
}

/** A version without its content; null if there is none. */
export async function findListedVersion(
  sql: Sql,
  { ownerId, agentId }: AgentKey,
  agentVersion: number,
): Promise<ListedVersion | null> {
  const [row] = await sql<ListedVersion[]>`
    select ${listedColumns(sql)}
    from agent_versions as version join agents using (owner_id, agent_id)
    where owner_id = ${ownerId} and agent_id = ${agentId} and agent_version = ${agentVersion}`;
  return row ?? null;
}

/** A page of an agent's publish log, newest first, and how many entries there are. @throws ServiceError condition when the page is too large */
export async function listPublishRows(
  sql: Sql,
  { ownerId, agentId }: AgentKey,
  { number, size }: Page,
): Promise<{ rows: PublishRow[]; total: number }> {
  return readCountedPage<PublishRow>(sql, {
    from: sql``,
    rows: sql`
      select owner_id, agent_id, number, kind, agent_version, split, note, override_reason, created_by, created_at
      from agent_publishes where owner_id = ${ownerId} and agent_id = ${agentId}
      order by number desc limit ${size} offset ${(number - 1) * size}`,
    total: sql`select count(*) from agent_publishes where owner_id = ${ownerId} and agent_id = ${agentId}`,
    bytes: sql`octet_length(page::text)`,
    order: sql`order by number desc`,
  });
}
