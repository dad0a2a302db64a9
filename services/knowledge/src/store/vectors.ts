import type { Sql } from "@parley/shared/db/database";
import type { BaseKey } from "./bases.ts";

/** Says that a base has chunks that may lack vectors. */
export async function noteChange(tx: Sql, { ownerId, baseId }: BaseKey): Promise<void> {
  await tx`
    insert into base_vectors (owner_id, base_id, is_complete) values (${ownerId}, ${baseId}, false)
    on conflict (owner_id, base_id) do update set is_complete = false`;
}

interface BaseVectors {
  baseId: string;
  /** Whose vectors serve; null before the first are complete. */
  model: string | null;
  version: number;
}

export function listBaseVectors(sql: Sql, ownerId: string, baseIds: readonly string[]): Promise<BaseVectors[]> {
  return sql<BaseVectors[]>`
    select base_id, model, version from base_vectors
    where owner_id = ${ownerId} and base_id = any(${baseIds as string[]}::text[])`;
}

/** Bases that lack vectors of a model. */
export function listIncompleteBases(sql: Sql, model: string, limit: number): Promise<BaseKey[]> {
  return sql<BaseKey[]>`
    select owner_id, base_id from base_vectors where not is_complete or model is distinct from ${model} limit ${limit}`;
}

/** Says that a run begins that sees all chunks. */
export async function beginEmbedding(sql: Sql, { ownerId, baseId }: BaseKey): Promise<void> {
  await sql`update base_vectors set is_complete = true where owner_id = ${ownerId} and base_id = ${baseId}`;
}

/** Tells processes that remember a base's vectors that there are others. */
export async function noteVectors(sql: Sql, { ownerId, baseId }: BaseKey): Promise<void> {
  await sql`update base_vectors set version = version + 1 where owner_id = ${ownerId} and base_id = ${baseId}`;
}

/** Lets a model's vectors serve. @returns whether all chunks have one */
export async function serveModel(sql: Sql, { ownerId, baseId }: BaseKey, model: string): Promise<boolean> {
  const [row] = await sql<{ isComplete: boolean }[]>`
    update base_vectors set model = ${model}, version = version + 1
    where owner_id = ${ownerId} and base_id = ${baseId} returning is_complete`;
  return row?.isComplete ?? true;
}

/** Chunks without a vector of a model, in the order of their ids. */
export function listUnembedded(
  sql: Sql,
  { ownerId, baseId }: BaseKey,
  { model, after, limit }: { model: string; after: string; limit: number },
): Promise<{ chunkId: string; heading: string; text: string }[]> {
  return sql<{ chunkId: string; heading: string; text: string }[]>`
    select chunk_id, heading, text from chunks
    where owner_id = ${ownerId} and base_id = ${baseId} and chunk_id > ${after}
      and not exists (
        select from embeddings
        where embeddings.owner_id = chunks.owner_id and embeddings.chunk_id = chunks.chunk_id and model = ${model})
    order by chunk_id limit ${limit}`;
}

/** Stores the vectors of chunks that are still there. */
export async function insertEmbeddings(
  sql: Sql,
  ownerId: string,
  model: string,
  vectors: readonly { chunkId: string; vector: Float32Array }[],
): Promise<void> {
  await sql`
    insert into embeddings (owner_id, chunk_id, model, base_id, document_id, dimensions, embedding)
    select owner_id, chunk_id, ${model}, base_id, document_id, cardinality(embedding::real[]), embedding::real[]
    from unnest(
      ${vectors.map(({ chunkId }) => chunkId)}::text[],
      ${vectors.map(({ vector }) => `{${vector.join(",")}}`)}::text[]
    ) as made (id, embedding)
    join chunks on owner_id = ${ownerId} and chunk_id = id
    for key share of chunks
    on conflict (owner_id, chunk_id, model) do nothing`;
}

/** Deletes a part of a base's vectors of other models. @returns the number deleted */
export async function deleteOtherModels(
  sql: Sql,
  { ownerId, baseId }: BaseKey,
  model: string,
  limit: number,
): Promise<number> {
  const { count } = await sql`
    delete from embeddings where ctid = any(array(
      select ctid from embeddings
      where owner_id = ${ownerId} and base_id = ${baseId} and model <> ${model} limit ${limit} for update))`;
  return count;
}

/** Corrects how many chunks of a base's documents have a vector of a model. */
export async function countEmbedded(sql: Sql, { ownerId, baseId }: BaseKey, model: string): Promise<void> {
  await sql`
    with counted as (
      select document_id, count(chunk_id)::integer as chunks
      from documents left join embeddings using (owner_id, document_id)
      where owner_id = ${ownerId} and documents.base_id = ${baseId} and (model = ${model} or model is null)
      group by document_id
    )
    update documents set embedded_chunks = counted.chunks from counted
    where documents.owner_id = ${ownerId} and documents.document_id = counted.document_id and embedded_chunks <> counted.chunks`;
}

/** The ids of a base's chunks that have a vector of a model, of so many dimensions. */
export async function listEmbeddedIds(
  sql: Sql,
  { ownerId, baseId, model }: BaseKey & { model: string },
  dimensions: number,
  limit: number,
): Promise<string[]> {
  const rows = await sql<{ chunkId: string }[]>`
    select chunk_id from embeddings
    where owner_id = ${ownerId} and base_id = ${baseId} and model = ${model}
      and dimensions = ${dimensions} order by chunk_id limit ${limit}`;
  return rows.map(({ chunkId }) => chunkId);
}

export async function listVectors(
  sql: Sql,
  { ownerId, model }: { ownerId: string; model: string },
  chunkIds: readonly string[],
): Promise<{ chunkId: string; vector: Float32Array }[]> {
  // As text, a thousand vectors take a hundred times as long to read.
  const rows = await sql<{ chunkId: string; bytes: Uint8Array }[]>`
    select chunk_id, array_send(embedding) as bytes from embeddings
    where owner_id = ${ownerId} and model = ${model} and chunk_id = any(${chunkIds as string[]}::text[])`;
  return rows.map(({ chunkId, bytes }) => ({ chunkId, vector: vectorOf(bytes) }));
}

/** Before the elements: dimensions, whether there are nulls, the type; the length and lower bound of the dimension. */
const HEADER_BYTES = 20;
/** Each element has its length before it. */
const ELEMENT_BYTES = 8;

function vectorOf(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const vector = new Float32Array((bytes.length - HEADER_BYTES) / ELEMENT_BYTES);
  for (let at = 0; at < vector.length; at++) vector[at] = view.getFloat32(HEADER_BYTES + ELEMENT_BYTES * at + 4);
  return vector;
}
