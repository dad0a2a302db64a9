import { readCountedPage } from "@parley/shared/db/bounded-page";
import type { Fragment, Sql } from "@parley/shared/db/database";
import { containing } from "@parley/shared/db/like";
import type { Page } from "@parley/shared/page";

export interface BaseKey {
  ownerId: string;
  baseId: string;
}

interface BaseRow extends BaseKey {
  name: string;
  description: string;
  createdAt: Date;
  updatedAt: Date;
}

/** What a base has to find. */
export interface ServedBase extends Pick<BaseKey, "baseId"> {
  /** A whole number, the same for the same names and texts of its documents. */
  documentsHash: string;
}

interface NamedBase extends Pick<BaseRow, "baseId" | "name" | "description"> {
  characters: number;
}

/** A base with what its documents have together. */
export interface CountedBase extends BaseRow, ServedBase {
  documentCount: number;
  chunkCount: number;
  embeddedChunks: number;
  bytes: number;
  characters: number;
}

export async function insertBase(sql: Sql, row: BaseRow): Promise<void> {
  await sql`
    insert into bases (owner_id, base_id, name, description, created_at, updated_at)
    values (${row.ownerId}, ${row.baseId}, ${row.name}, ${row.description}, ${row.createdAt}, ${row.updatedAt})`;
}

export async function updateBase(
  sql: Sql,
  { ownerId, baseId }: BaseKey,
  { name, description, now }: { name: string | undefined; description: string | undefined; now: Date },
): Promise<void> {
  await sql`
    update bases set name = coalesce(${name ?? null}, name), description = coalesce(${description ?? null}, description),
      updated_at = ${now}
    where owner_id = ${ownerId} and base_id = ${baseId}`;
}

export async function deleteBaseRow(sql: Sql, { ownerId, baseId }: BaseKey): Promise<void> {
  await sql`delete from bases where owner_id = ${ownerId} and base_id = ${baseId}`;
}

/** Those of these bases that the owner has. */
export async function listServedBases(sql: Sql, ownerId: string, baseIds: readonly string[]): Promise<ServedBase[]> {
  return sql<ServedBase[]>`
    select base_id, documents_hash from bases where owner_id = ${ownerId} and base_id = any(${baseIds as string[]})
    order by base_id`;
}

/** The same, with their names. @param withCharacters adds up their documents */
export async function listNamedBases(
  sql: Sql,
  { ownerId, baseIds, withCharacters }: { ownerId: string; baseIds: readonly string[]; withCharacters: boolean },
): Promise<NamedBase[]> {
  const sum = sql`
    coalesce((select sum(characters) from documents where owner_id = bases.owner_id and base_id = bases.base_id), 0)`;
  return sql<NamedBase[]>`
    select base_id, name, description, (${withCharacters ? sum : sql`0`})::bigint as characters
    from bases where owner_id = ${ownerId} and base_id = any(${baseIds as string[]})`;
}

/** Keeps a base from being deleted until the transaction ends. @returns whether there is one */
export async function holdBase(tx: Sql, { ownerId, baseId }: BaseKey): Promise<boolean> {
  const { count } = await tx`select from bases where owner_id = ${ownerId} and base_id = ${baseId} for key share`;
  return count > 0;
}

/** Whose bases these are, of those that exist. */
export async function findBaseOwners(sql: Sql, baseIds: readonly string[]): Promise<BaseKey[]> {
  return sql<BaseKey[]>`select owner_id, base_id from bases where base_id = any(${baseIds as string[]})`;
}

export async function findBases(sql: Sql, ownerId: string, baseIds: readonly string[]): Promise<CountedBase[]> {
  return sql<CountedBase[]>`
    ${counted(sql, sql`select * from bases where owner_id = ${ownerId} and base_id = any(${baseIds as string[]})`)}`;
}

/** A page of the owner's bases, newest first. @throws ServiceError condition when the page is too large */
export async function listBaseRows(
  sql: Sql,
  { ownerId, search }: { ownerId: string; search: string },
  page: Page,
): Promise<{ rows: CountedBase[]; total: number }> {
  const matching = sql`
    from bases where owner_id = ${ownerId}
    ${search === "" ? sql`` : sql`and (name || E'\n' || description) ilike ${containing(search)}`}`;
  return readCountedPage<CountedBase>(sql, {
    rows: counted(
      sql,
      sql`
        select * ${matching} order by created_at desc, base_id desc
        limit ${page.size} offset ${(page.number - 1) * page.size}`,
    ),
    total: sql`select count(*) ${matching}`,
    bytes: sql`octet_length(name) + octet_length(description)`,
    order: sql`order by created_at desc, base_id desc`,
  });
}

const counted = (sql: Sql, bases: Fragment) => sql`
  select base.owner_id, base.base_id, base.name, base.description, base.created_at, base.updated_at, base.documents_hash,
    sums.*
  from (${bases}) as base cross join lateral (
    select count(*)::integer as document_count, coalesce(sum(chunk_count), 0)::integer as chunk_count,
      coalesce(sum(embedded_chunks), 0)::integer as embedded_chunks,
      coalesce(sum(documents.bytes + coalesce(contents.bytes, 0)), 0)::bigint as bytes,
      coalesce(sum(characters), 0)::bigint as characters
    from documents left join contents using (owner_id, document_id)
    where documents.owner_id = base.owner_id and documents.base_id = base.base_id
  ) as sums`;
