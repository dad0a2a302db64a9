import type { Sql } from "@parley/shared/db/database";
import type { DocumentKey } from "./documents.ts";

export interface PlacedChunk {
  chunkId: string;
  /** From 0. */
  position: number;
  heading: string;
  text: string;
}

/** The chunks of a document in their order, with the MD5 of their heading, a byte 1 and their text. */
export function listChunkHashes(
  tx: Sql,
  { ownerId, documentId }: DocumentKey,
): Promise<{ chunkId: string; language: string; hash: string }[]> {
  return tx<{ chunkId: string; language: string; hash: string }[]>`
    select chunks.chunk_id, language, md5(heading || chr(1) || text) as hash
    from chunks join chunk_words using (owner_id, chunk_id)
    where chunks.owner_id = ${ownerId} and chunks.document_id = ${documentId} order by position`;
}

/** The first chunks of a document. */
export async function listChunkIds(tx: Sql, { ownerId, documentId }: DocumentKey, limit: number): Promise<string[]> {
  const rows = await tx<{ chunkId: string }[]>`
    select chunk_id from chunks where owner_id = ${ownerId} and document_id = ${documentId} order by position limit ${limit}`;
  return rows.map(({ chunkId }) => chunkId);
}

/** A chunk of a document; null if the document no longer has it. */
export async function findChunk(
  sql: Sql,
  { ownerId, documentId }: DocumentKey,
  chunkId: string,
): Promise<Pick<PlacedChunk, "heading" | "text"> | null> {
  const [row] = await sql<Pick<PlacedChunk, "heading" | "text">[]>`
    select heading, text from chunks
    where owner_id = ${ownerId} and chunk_id = ${chunkId} and document_id = ${documentId}`;
  return row ?? null;
}

export async function insertChunks(
  tx: Sql,
  { ownerId, baseId, documentId }: DocumentKey,
  chunks: readonly PlacedChunk[],
): Promise<void> {
  await tx`
    insert into chunks (owner_id, chunk_id, base_id, document_id, position, heading, text)
    select ${ownerId}, chunk_id, ${baseId}, ${documentId}, position, heading, text
    from unnest(
      ${chunks.map(({ chunkId }) => chunkId)}::text[],
      ${chunks.map(({ position }) => position)}::integer[],
      ${chunks.map(({ heading }) => heading)}::text[],
      ${chunks.map(({ text }) => text)}::text[]
    ) as added (chunk_id, position, heading, text)`;
}

export async function moveChunks(
  tx: Sql,
  { ownerId }: DocumentKey,
  chunks: readonly Pick<PlacedChunk, "chunkId" | "position">[],
): Promise<void> {
  await tx`
    update chunks set position = moved.position
    from unnest(
      ${chunks.map(({ chunkId }) => chunkId)}::text[],
      ${chunks.map(({ position }) => position)}::integer[]
    ) as moved (chunk_id, position)
    where chunks.owner_id = ${ownerId} and chunks.chunk_id = moved.chunk_id and chunks.position <> moved.position`;
}

/** Deletes chunks with their words and vectors. */
export async function deleteChunkRows(tx: Sql, ownerId: string, chunkIds: readonly string[]): Promise<void> {
  const ids = chunkIds as string[];
  // First, so that a vector that is being made waits for this transaction, and then finds no chunk.
  await tx`delete from chunks where owner_id = ${ownerId} and chunk_id = any(${ids}::text[])`;
  await tx`delete from chunk_words where owner_id = ${ownerId} and chunk_id = any(${ids}::text[])`;
  await tx`delete from embeddings where owner_id = ${ownerId} and chunk_id = any(${ids}::text[])`;
}

export interface FoundChunk {
  chunkId: string;
  baseId: string;
  documentId: string;
  /** The document's. */
  name: string;
  language: string | null;
  heading: string;
  text: string;
}

/** The chunks with these ids, without those whose documents have been deleted. */
export function listFoundChunks(sql: Sql, ownerId: string, chunkIds: readonly string[]): Promise<FoundChunk[]> {
  return sql<FoundChunk[]>`
    select chunk_id, chunks.base_id, document_id, name, language, heading, text
    from chunks join documents using (owner_id, document_id)
    where chunks.owner_id = ${ownerId} and chunk_id = any(${chunkIds as string[]}::text[])`;
}
