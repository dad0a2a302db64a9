import { readCountedPage } from "@parley/shared/db/bounded-page";
import type { Sql } from "@parley/shared/db/database";
import { containing } from "@parley/shared/db/like";
import type { DOCUMENT_STATUSES } from "@parley/shared/domain/api-names";
import type { Page } from "@parley/shared/page";
import type { BaseKey } from "./bases.ts";

export interface DocumentKey extends BaseKey {
  documentId: string;
}

export interface DocumentRow extends DocumentKey {
  name: string;
  status: keyof typeof DOCUMENT_STATUSES;
  error: string | null;
  /** Null before the first text. */
  textId: string | null;
  mediaType: string | null;
  language: string | null;
  givenLanguage: string | null;
  sha256: Buffer | null;
  /** Of its text, and of content that waits. */
  bytes: number;
  characters: number;
  chunkCount: number;
  embeddedChunks: number;
  url: string | null;
  refreshHours: number | null;
  etag: string | null;
  refreshedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

const columns = (sql: Sql) => sql`
  documents.owner_id, documents.document_id, base_id, name, status, error, text_id, documents.media_type, language, given_language,
  documents.sha256, documents.bytes + coalesce(contents.bytes, 0) as bytes, characters, chunk_count, embedded_chunks, url,
  refresh_hours, etag, refreshed_at, documents.created_at, updated_at`;

const withContents = (sql: Sql) => sql`documents left join contents using (owner_id, document_id)`;

/** Null too once its base is gone. */
export async function findDocument(
  sql: Sql,
  { ownerId, baseId, documentId }: DocumentKey,
): Promise<DocumentRow | null> {
  const [row] = await sql<DocumentRow[]>`
    select ${columns(sql)} from ${withContents(sql)}
    where documents.owner_id = ${ownerId} and documents.document_id = ${documentId} and base_id = ${baseId}
      and exists (select from bases where bases.owner_id = ${ownerId} and bases.base_id = ${baseId})`;
  return row ?? null;
}

/** The document of a base whose newest content is this one: of these bytes, or of the page at this address. */
export async function findSameContent(
  sql: Sql,
  { ownerId, baseId }: BaseKey,
  content: { url: null; sha256: Uint8Array } | { url: string },
): Promise<DocumentRow | null> {
  // Each of the two has an index.
  const same =
    content.url !== null
      ? sql`documents.url = ${content.url}`
      : sql`
        documents.url is null and documents.document_id in (
          select document_id from documents as served
          where served.owner_id = ${ownerId} and served.base_id = ${baseId} and served.sha256 = ${content.sha256}
          union all
          select document_id from contents as waiting where waiting.owner_id = ${ownerId} and waiting.sha256 = ${content.sha256}
        ) and coalesce(contents.sha256, documents.sha256) = ${content.sha256}`;
  const [row] = await sql<DocumentRow[]>`
    select ${columns(sql)} from ${withContents(sql)}
    where documents.owner_id = ${ownerId} and base_id = ${baseId} and ${same}
    order by documents.created_at, documents.document_id limit 1`;
  return row ?? null;
}

/** How many documents an owner has, counted no further than `max`. */
export async function countDocuments(sql: Sql, ownerId: string, max: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from (select from documents where owner_id = ${ownerId} limit ${max}) as counted`;
  return row?.count ?? 0;
}

interface NewDocument extends DocumentKey {
  name: string;
  givenLanguage: string | null;
  /** Of the bytes that wait; null for a page. */
  sha256: Uint8Array | null;
  url: string | null;
  refreshHours: number | null;
  now: Date;
}

/** Its content waits. */
export async function insertDocument(sql: Sql, row: NewDocument): Promise<void> {
  await sql`
    insert into documents (owner_id, document_id, base_id, name, status, given_language, sha256, url, refresh_hours, created_at, updated_at)
    values (${row.ownerId}, ${row.documentId}, ${row.baseId}, ${row.name}, 'PENDING', ${row.givenLanguage}, ${row.sha256}, ${row.url},
      ${row.refreshHours}, ${row.now}, ${row.now})`;
}

interface Replacement {
  /** Undefined: unchanged. */
  name: string | undefined;
  givenLanguage: string | undefined;
  url: string | null;
  refreshHours: number | null;
  now: Date;
}

/** Notes that new content waits. A page at another address has no ETag yet; what is no page any more is fetched no more. */
export async function setReplacement(
  sql: Sql,
  { ownerId, documentId }: DocumentKey,
  given: Replacement,
): Promise<void> {
  await sql`
    update documents set name = coalesce(${given.name ?? null}, name), status = 'PENDING', error = null,
      given_language = coalesce(${given.givenLanguage ?? null}, given_language), url = ${given.url},
      refresh_hours = ${given.refreshHours}, etag = case when url = ${given.url} then etag end,
      refreshed_at = case when url = ${given.url} then refreshed_at end, refresh_due_at = null, updated_at = ${given.now}
    where owner_id = ${ownerId} and document_id = ${documentId}`;
}

/** @returns the document's name and text as they were, null if there is none */
export async function deleteDocumentRow(
  sql: Sql,
  { ownerId, baseId, documentId }: DocumentKey,
): Promise<{ name: string; textId: string | null } | null> {
  const [row] = await sql<{ name: string; textId: string | null }[]>`
    delete from documents where owner_id = ${ownerId} and document_id = ${documentId} and base_id = ${baseId}
    returning name, text_id`;
  return row ?? null;
}

/** Some documents of a base, for its deletion. */
export async function listSomeDocuments(
  sql: Sql,
  { ownerId, baseId }: BaseKey,
  max: number,
): Promise<Pick<DocumentRow, "documentId" | "textId">[]> {
  return sql<Pick<DocumentRow, "documentId" | "textId">[]>`
    select document_id, text_id from documents where owner_id = ${ownerId} and base_id = ${baseId}
    order by created_at desc, document_id desc limit ${max}`;
}

export interface DocumentWithText extends DocumentKey {
  name: string;
  textId: string;
  characters: number;
}

/** The documents of a base that have a text, the oldest first. */
export async function listDocumentsWithText(
  sql: Sql,
  { ownerId, baseId }: BaseKey,
  max: number,
): Promise<DocumentWithText[]> {
  return sql<DocumentWithText[]>`
    select owner_id, base_id, document_id, name, text_id, characters from documents
    where owner_id = ${ownerId} and base_id = ${baseId} and text_id is not null
    order by created_at, document_id limit ${max}`;
}

interface DocumentFilter extends BaseKey {
  search: string;
  status: DocumentRow["status"] | null;
}

/** A page of a base's documents, newest first. @throws ServiceError condition when the page is too large */
export async function listDocumentRows(
  sql: Sql,
  { ownerId, baseId, search, status }: DocumentFilter,
  page: Page,
): Promise<{ rows: DocumentRow[]; total: number }> {
  const matching = sql`
    where documents.owner_id = ${ownerId} and base_id = ${baseId}
    ${search === "" ? sql`` : sql`and name ilike ${containing(search)}`}
    ${status === null ? sql`` : sql`and status = ${status}`}`;
  return readCountedPage<DocumentRow>(sql, {
    rows: sql`
      select ${columns(sql)} from ${withContents(sql)} ${matching} order by documents.created_at desc, document_id desc
      limit ${page.size} offset ${(page.number - 1) * page.size}`,
    total: sql`select count(*) from documents ${matching}`,
    bytes: sql`octet_length(name) + coalesce(octet_length(url), 0) + coalesce(octet_length(error), 0)`,
    order: sql`order by created_at desc, document_id desc`,
  });
}

/** Notes that content waits again, such as a page's. */
export async function setPending(sql: Sql, { ownerId, documentId }: DocumentKey, now: Date): Promise<void> {
  await sql`
    update documents set status = 'PENDING', error = null, refresh_due_at = null, updated_at = ${now}
    where owner_id = ${ownerId} and document_id = ${documentId}`;
}

/** Documents whose pages are due to be fetched again, of bases that exist. */
export async function listRefreshDue(sql: Sql, now: Date, max: number): Promise<DocumentKey[]> {
  return sql<DocumentKey[]>`
    select owner_id, base_id, document_id from documents
    where refresh_due_at <= ${now}
      and exists (select from bases where bases.owner_id = documents.owner_id and bases.base_id = documents.base_id)
    order by refresh_due_at limit ${max}`;
}

/** The text that begins to serve. */
export interface ServedText {
  textId: string;
  mediaType: string;
  language: string;
  bytes: number;
  characters: number;
  chunkCount: number;
  sha256: Uint8Array;
  /** Of the text itself, of 64 bits. */
  textHash: bigint;
  /** Undefined: unchanged. */
  name?: string | undefined;
}

export async function setText(
  sql: Sql,
  { ownerId, documentId }: Pick<DocumentKey, "ownerId" | "documentId">,
  text: ServedText,
  now: Date,
): Promise<void> {
  await sql`
    update documents set status = 'READY', error = null, text_id = ${text.textId}, media_type = ${text.mediaType},
      language = ${text.language}, bytes = ${text.bytes}, characters = ${text.characters}, chunk_count = ${text.chunkCount},
      embedded_chunks = 0, sha256 = ${text.sha256}, text_hash = ${String(text.textHash)}, name = coalesce(${text.name ?? null}, name),
      updated_at = ${now}
    where owner_id = ${ownerId} and document_id = ${documentId}`;
}

/** The text that serves, if any, still does. @param error null if the content is the same */
export async function keepText(
  sql: Sql,
  { ownerId, documentId }: Pick<DocumentKey, "ownerId" | "documentId">,
  error: string | null,
  now: Date,
): Promise<void> {
  await sql`
    update documents set status = case when text_id is null then 'FAILED' else 'READY' end, error = ${error}, updated_at = ${now}
    where owner_id = ${ownerId} and document_id = ${documentId}`;
}

/** Notes that a document's page was fetched, successfully or not, and when it is due again. */
export async function setFetched(
  sql: Sql,
  { ownerId, documentId }: Pick<DocumentKey, "ownerId" | "documentId">,
  { etag, now }: { etag: string | null; now: Date },
): Promise<void> {
  await sql`
    update documents set etag = ${etag}, refreshed_at = ${now}, refresh_due_at = ${now}::timestamptz + refresh_hours * interval '1 hour'
    where owner_id = ${ownerId} and document_id = ${documentId}`;
}
