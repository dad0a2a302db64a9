import { setImmediate } from "node:timers/promises";
import type { Database } from "@parley/shared/db/database";
import { listEmbeddedIds, listVectors } from "../../store/vectors.ts";
import { type KeptVectors, keepVectors } from "./kept-vectors.ts";
import type { NearChunk, VectorIndex } from "./vector-index.ts";

/** Chunks of a base that is compared as a whole. */
const SCANNED_CHUNKS_MAX = 50_000;
/** Vectors that one statement reads. */
const READ_ROWS = 1_000;
/** Vectors that are compared before others may run. */
const COMPARED_ROWS = 4_096;

/**
 * Compares with every vector of a base, which is kept in memory.
 * @param beyond searches bases that are too large for that; without it, they are not searched by meaning
 */
export function scanIndex(db: Database, beyond: VectorIndex | null, kept = keepVectors()): VectorIndex {
  return {
    nearest: async (asked) => {
      const { ownerId, bases, model, vector, limit } = asked;
      const found: NearChunk[] = [];
      const large: (typeof asked.bases)[number][] = [];
      for (const base of bases) {
        const read = (before: KeptVectors | null) =>
          readVectors(db, { ownerId, baseId: base.baseId, model }, vector.length, before, kept.ownerBytes);
        const vectors = await kept.get(ownerId, `${base.baseId} ${model} ${vector.length}`, base.version, read);
        if (vectors) found.push(...(await compare(vectors, vector, limit)));
        else large.push(base);
      }
      if (beyond && large.length > 0) found.push(...(await beyond.nearest({ ...asked, bases: large })));
      return best(found, limit);
    },
  };
}

/**
 * Reads the vectors that those before lack, so that a corrected document costs little.
 * @returns null for a base that is too large
 */
async function readVectors(
  db: Database,
  base: { ownerId: string; baseId: string; model: string },
  dimensions: number,
  before: KeptVectors | null,
  bytesMax: number,
): Promise<KeptVectors | null> {
  const ids = await listEmbeddedIds(db, base, dimensions, SCANNED_CHUNKS_MAX + 1);
  const length = ids.length * dimensions;
  if (ids.length > SCANNED_CHUNKS_MAX || length * Float32Array.BYTES_PER_ELEMENT > bytesMax) return null;
  const values = new Float32Array(length);
  const places = new Map(before?.ids.map((id, at) => [id, at * dimensions]));
  const rows = new Map(ids.map((id, at) => [id, at * dimensions]));
  const missing: string[] = [];
  for (const [id, to] of rows) {
    const from = places.get(id);
    if (before && from !== undefined) values.set(before.values.subarray(from, from + dimensions), to);
    else missing.push(id);
  }
  for (let at = 0; at < missing.length; at += READ_ROWS) {
    const part = await listVectors(db, base, missing.slice(at, at + READ_ROWS));
    for (const { chunkId, vector } of part) if (vector.length === dimensions) values.set(vector, rows.get(chunkId));
  }
  return { ids, dimensions, values };
}

async function compare(
  { ids, dimensions, values }: KeptVectors,
  vector: Float32Array,
  limit: number,
): Promise<NearChunk[]> {
  let found: NearChunk[] = [];
  for (let from = 0; from < ids.length; from += COMPARED_ROWS) {
    for (let row = from; row < Math.min(ids.length, from + COMPARED_ROWS); row++) {
      let similarity = 0;
      for (let at = 0, place = row * dimensions; at < dimensions; at++, place++) {
        similarity += (vector[at] as number) * (values[place] as number);
      }
      found.push({ chunkId: ids[row] as string, similarity });
    }
    found = best(found, limit);
    await setImmediate();
  }
  return found;
}

function best(found: readonly NearChunk[], limit: number): NearChunk[] {
  return found.toSorted((one, other) => other.similarity - one.similarity).slice(0, limit);
}
