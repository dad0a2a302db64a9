import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { type Database, openDatabase } from "@parley/shared/db/database";
import { migrate } from "@parley/shared/db/migrate";
import { newId } from "@parley/shared/ids";
import { createTestDatabase } from "@parley/testkit/database";
import { MIGRATIONS } from "../src/migrations.ts";
import { keepVectors } from "../src/search/semantic/kept-vectors.ts";
import { pgvectorIndex } from "../src/search/semantic/pgvector.ts";
import { scanIndex } from "../src/search/semantic/scan.ts";
import type { NearChunk, VectorIndex } from "../src/search/semantic/vector-index.ts";
import { insertChunks } from "../src/store/chunks.ts";
import { hasPgvector } from "../src/store/pgvector.ts";
import { insertEmbeddings } from "../src/store/vectors.ts";

interface Opened {
  db: Database;
  close(): Promise<unknown>;
}

async function openPostgres(): Promise<Opened> {
  const database = await createTestDatabase();
  const db = openDatabase({ url: database.urls.knowledge, name: "test" });
  return { db, close: () => db.end().then(() => database.drop()) };
}

/** Postgres with the real extension, in this process. */
async function openPgvector(): Promise<Opened> {
  const engine = await PGlite.create({ extensions: { vector } });
  await engine.exec("create extension vector");
  const server = new PGLiteSocketServer({ db: engine, port: 0, host: "127.0.0.1" });
  await server.start();
  const url = `postgres://postgres:postgres@${server.getServerConn()}/postgres`;
  const db = openDatabase({ url, name: "test", max: 1 });
  await migrate(db, MIGRATIONS);
  // So few vectors would be compared without the index.
  await db`set enable_sort = off`;
  const close = async () => {
    await db.end();
    await server.stop();
    await engine.close();
  };
  return { db, close };
}

describe.each<[string, () => Promise<Opened>, boolean, (db: Database) => VectorIndex]>([
  ["the scan", openPostgres, false, (db) => scanIndex(db, null)],
  ["pgvector", openPgvector, true, (db) => pgvectorIndex(db)],
])("%s", (name, open, isExtended, create) => {
  let opened: Opened;
  let index: VectorIndex;
  const ownerId = newId("own");
  const [baseId, otherBaseId] = [newId("kb"), newId("kb")];
  beforeAll(async () => {
    opened = await open();
    index = create(opened.db);
  });
  afterAll(() => opened.close());

  async function store(
    base: string,
    vectors: Readonly<Record<string, number[]>>,
    model = "m",
    owner = ownerId,
  ): Promise<void> {
    const ids = Object.keys(vectors);
    const key = { ownerId: owner, baseId: base, documentId: newId("doc") };
    await insertChunks(
      opened.db,
      key,
      ids.map((chunkId, position) => ({ chunkId, position, heading: "", text: chunkId })),
    );
    const made = ids.map((chunkId) => ({ chunkId, vector: unit(vectors[chunkId] ?? []) }));
    await insertEmbeddings(opened.db, owner, model, made);
  }

  let version = 0;
  function nearest(to: number[], baseIds = [baseId], limit = 10, model = "m"): Promise<NearChunk[]> {
    const bases = baseIds.map((each) => ({ baseId: each, version }));
    return index.nearest({ ownerId, bases, model, vector: unit(to), limit });
  }
  const idsOf = (found: readonly NearChunk[]) => found.map(({ chunkId }) => chunkId);

  test(`${name} finds the closest vectors first, with the cosine of their angle`, async () => {
    expect(await hasPgvector(opened.db)).toBe(isExtended);
    await store(baseId, { east: [1, 0], northEast: [1, 1], west: [-1, 0], north: [0, 1] });
    const found = await nearest([2, 0.1]);
    expect(idsOf(found)).toEqual(["east", "northEast", "north", "west"]);
    for (const [at, cosine] of [1, 0.74, 0.05, -1].entries()) expect(found[at]?.similarity).toBeCloseTo(cosine, 1);
    expect(idsOf(await nearest([2, 0.1], [baseId], 2))).toEqual(["east", "northEast"]);
  });

  test(`${name} finds only vectors of the bases, the owner and the model that are asked for`, async () => {
    await store(otherBaseId, { other: [1, 0] });
    await store(otherBaseId, { foreign: [1, 0] }, "m", newId("own"));
    await store(otherBaseId, { old: [1, 0] }, "old");
    version++;
    expect(idsOf(await nearest([1, 0], [otherBaseId]))).toEqual(["other"]);
    expect(idsOf(await nearest([1, 0], [otherBaseId], 10, "old"))).toEqual(["old"]);
    expect(idsOf(await nearest([1, 0], [baseId, otherBaseId], 2)).toSorted()).toEqual(["east", "other"]);
    expect(await nearest([1, 0], [newId("kb")])).toEqual([]);
  });

  test(`${name} finds nothing for a vector of another number of dimensions, and leaves such vectors out`, async () => {
    expect(await nearest([1, 0, 0])).toEqual([]);
    await store(baseId, { deep: [1, 0, 0] });
    version++;
    expect(idsOf(await nearest([1, 0, 0]))).toEqual(["deep"]);
    expect(idsOf(await nearest([1, 0]))).not.toContain("deep");
  });

  test(`${name} sees vectors that were added and deleted`, async () => {
    await store(baseId, { south: [0, -1] });
    await opened.db`delete from embeddings where owner_id = ${ownerId} and chunk_id = 'east'`;
    version++;
    expect(idsOf(await nearest([1, -0.9]))).toEqual(["south", "northEast", "north", "west"]);
  });
});

test("vectors of a base that was searched long ago make room within their owner's bytes", async () => {
  const kept = keepVectors({ ownerBytes: 100, totalBytes: 1_000 });
  const reads: string[] = [];
  const get = (ownerId: string, key: string) =>
    kept.get(ownerId, key, 1, async () => {
      reads.push(`${ownerId}-${key}`);
      return { ids: [key], dimensions: 10, values: new Float32Array(10) };
    });
  for (const key of ["a", "b", "a", "c", "a", "b"]) await get("one", key);
  await get("two", "a");
  await get("one", "b");
  expect(reads).toEqual(["one-a", "one-b", "one-c", "one-b", "two-a"]);
});

test("searches at the same time read a base's vectors once, and a failed read is tried again", async () => {
  const kept = keepVectors();
  let reads = 0;
  const read = async () => {
    if (++reads === 1) throw new Error("lost");
    return { ids: ["a"], dimensions: 1, values: new Float32Array(1) };
  };
  expect(kept.get("own", "base", 1, read)).rejects.toThrow("lost");
  await kept.get("own", "base", 1, read).catch(() => {});
  await Promise.all([1, 2, 3].map(() => kept.get("own", "base", 1, read)));
  expect(reads).toBe(2);
});

function unit(values: readonly number[]): Float32Array {
  const length = Math.hypot(...values);
  return Float32Array.from(values, (value) => value / length);
}
