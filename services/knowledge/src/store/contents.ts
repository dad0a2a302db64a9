import type { Sql } from "@parley/shared/db/database";
import type { OldRows } from "@parley/shared/jobs/old-rows";
import type { DocumentKey } from "./documents.ts";

/** Enough to tell what it is. */
const HEAD_BYTES = 4 * 1024;

interface PartKey {
  ownerId: string;
  contentId: string;
  part: number;
}

/** What waits to become a document's text. */
export interface ContentRow {
  ownerId: string;
  documentId: string;
  contentId: string;
  /** Of bytes that were sent; null for a page. */
  mediaType: string | null;
  sha256: Uint8Array | null;
  bytes: number;
}

/** Stores a part once, however often it is sent. */
export async function insertPart(
  sql: Sql,
  { ownerId, contentId, part }: PartKey,
  data: Uint8Array,
  now: Date,
): Promise<void> {
  await sql`
    insert into content_parts (owner_id, content_id, part, data, created_at)
    values (${ownerId}, ${contentId}, ${part}, ${data}, ${now}) on conflict (owner_id, content_id, part) do nothing`;
}

/** How long the parts are that have arrived, and their first bytes. */
export async function measureParts(
  sql: Sql,
  ownerId: string,
  contentId: string,
): Promise<{ bytes: number; head: Uint8Array }> {
  const [row] = await sql<{ bytes: number; head: Buffer | null }[]>`
    select coalesce(sum(octet_length(data)), 0)::bigint as bytes,
      min(substring(data for ${HEAD_BYTES})) filter (where part = 0) as head
    from content_parts where owner_id = ${ownerId} and content_id = ${contentId}`;
  return { bytes: row?.bytes ?? 0, head: row?.head ?? new Uint8Array() };
}

export async function readParts(sql: Sql, ownerId: string, contentId: string): Promise<Uint8Array> {
  const rows = await sql<{ data: Buffer }[]>`
    select data from content_parts where owner_id = ${ownerId} and content_id = ${contentId} order by part`;
  return Buffer.concat(rows.map(({ data }) => data));
}

export async function deleteContentParts(sql: Sql, ownerId: string, contentId: string): Promise<void> {
  await sql`delete from content_parts where owner_id = ${ownerId} and content_id = ${contentId}`;
}

/** Deletes the parts of a content that no document has taken. */
export async function deleteUntaken(sql: Sql, ownerId: string, contentId: string): Promise<void> {
  await sql`
    delete from content_parts
    where owner_id = ${ownerId} and content_id = ${contentId}
      and not exists (select from contents where owner_id = ${ownerId} and content_id = ${contentId})`;
}

/** Bytes that were sent and that no document took, in much more time than an upload takes. */
export const UNTAKEN_PARTS: OldRows = {
  table: "content_parts",
  by: "created_at",
  keptMs: 60 * 60_000,
  where: (sql) => sql`
    not exists (
      select from contents
      where contents.owner_id = content_parts.owner_id and contents.content_id = content_parts.content_id
    )`,
  rows: 100,
};

/** Makes this the document's next content, in place of one that waits. */
export async function putContent(sql: Sql, row: ContentRow, now: Date): Promise<void> {
  await deleteContent(sql, row);
  await sql`
    insert into contents (owner_id, document_id, content_id, media_type, sha256, bytes, created_at)
    values (${row.ownerId}, ${row.documentId}, ${row.contentId}, ${row.mediaType}, ${row.sha256}, ${row.bytes}, ${now})`;
}

/** Deletes what waits for a document, with its bytes. */
export async function deleteContent(
  sql: Sql,
  { ownerId, documentId }: Pick<DocumentKey, "ownerId" | "documentId">,
): Promise<void> {
  const [row] = await sql<{ contentId: string }[]>`
    delete from contents where owner_id = ${ownerId} and document_id = ${documentId} returning content_id`;
  if (row) await deleteContentParts(sql, ownerId, row.contentId);
}

/** A document and its content whose turn it is. */
export interface Next extends ContentRow {
  baseId: string;
  name: string;
  givenLanguage: string | null;
  url: string | null;
  refreshHours: number | null;
  etag: string | null;
  /** Whether it has a text that a page that has not changed keeps: one in the language that is asked for. */
  keepsText: boolean;
  /** Of the bytes that such a text is of. */
  textSha256: Buffer | null;
  /** The number of this run. */
  attempts: number;
}

/** The content of an owner that has waited longest, with this run counted; null if none waits. */
export async function beginNext(sql: Sql, ownerId: string): Promise<Next | null> {
  const [row] = await sql<Next[]>`
    update contents set attempts = attempts + 1
    from (
      select owner_id, document_id, base_id, documents.name, given_language, url, refresh_hours, etag, keeps_text,
        case when keeps_text then documents.sha256 end as text_sha256
      from contents join documents using (owner_id, document_id) join bases using (owner_id, base_id)
        cross join lateral (select text_id is not null and coalesce(given_language, language) = language as keeps_text) as kept
      where owner_id = ${ownerId} order by contents.created_at, document_id limit 1
    ) as next
    where contents.owner_id = next.owner_id and contents.document_id = next.document_id
    returning next.*, contents.content_id, contents.media_type, contents.sha256, contents.bytes, contents.attempts`;
  return row ?? null;
}

/**
 * Locks a document whose content is to be settled, and its base, until the transaction ends.
 * @returns its text; null when the document, its base or this content is gone or was replaced
 */
export async function lockContent(
  tx: Sql,
  { ownerId, documentId, contentId }: Pick<ContentRow, "ownerId" | "documentId" | "contentId">,
): Promise<{ textId: string | null } | null> {
  const [row] = await tx<{ textId: string | null }[]>`
    select text_id from documents join bases using (owner_id, base_id)
    where owner_id = ${ownerId} and document_id = ${documentId}
      and exists (
        select from contents where contents.owner_id = ${ownerId} and contents.document_id = ${documentId} and content_id = ${contentId}
      )
    for no key update of documents for key share of bases`;
  return row ?? null;
}
