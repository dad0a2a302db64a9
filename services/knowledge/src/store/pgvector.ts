import type { Database, Sql } from "@parley/shared/db/database";

/** Whether the database has pgvector with half precision, whose index takes 4,000 dimensions. */
export async function hasPgvector(sql: Sql): Promise<boolean> {
  const [row] = await sql`select from pg_type where typname = 'halfvec' and pg_type_is_visible(oid)`;
  return row !== undefined;
}

/**
 * Creates the index of a model's vectors, if it is not there. Vectors of another number of dimensions are not in it.
 * @param dimensions a whole number
 */
export async function createNearestIndex(db: Database, model: string, dimensions: number): Promise<void> {
  const name = `embeddings_${Bun.hash.xxHash64(`${model} ${dimensions}`).toString(36)}`;
  const connection = await db.reserve();
  try {
    await connection`set statement_timeout = 0`;
    const [row] = await connection<{ isValid: boolean }[]>`
      select indisvalid as is_valid from pg_index where indexrelid = to_regclass(${name})`;
    if (row?.isValid) return;
    // One that was interrupted is there, and of no use.
    if (row) await connection.unsafe(`drop index concurrently if exists ${name}`);
    const quoted = model.replaceAll("'", "''");
    await connection.unsafe(
      `create index concurrently if not exists ${name} on embeddings using hnsw ((embedding::halfvec(${dimensions})) halfvec_cosine_ops)
       where model = '${quoted}' and dimensions = ${dimensions}`,
    );
  } finally {
    await connection`reset statement_timeout`;
    connection.release();
  }
}

interface NearestRows {
  ownerId: string;
  baseIds: readonly string[];
  model: string;
  vector: Float32Array;
  limit: number;
}

/** The chunks whose vectors are closest, the closest first, with the cosine of the angle. */
export function listNearest(
  db: Database,
  { ownerId, baseIds, model, vector, limit }: NearestRows,
): Promise<{ chunkId: string; similarity: number }[]> {
  const dimensions = db.unsafe(String(vector.length));
  const embedding = db`embedding::halfvec(${dimensions})`;
  const asked = db`${`[${vector.join(",")}]`}::halfvec(${dimensions})`;
  return db.begin(async (tx) => {
    // The index has the vectors of all owners: it goes on until enough are of these bases.
    await tx`set local hnsw.iterative_scan = relaxed_order`;
    return tx<{ chunkId: string; similarity: number }[]>`
      select chunk_id, 1 - distance as similarity from (
        select chunk_id, ${embedding} <=> ${asked} as distance from embeddings
        where owner_id = ${ownerId} and base_id = any(${baseIds as string[]}::text[])
          and model = ${model} and dimensions = ${dimensions}
        order by ${embedding} <=> ${asked} limit ${limit}
      ) as nearest order by distance`;
  });
}
