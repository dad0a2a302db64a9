import { afterAll, expect, test } from "bun:test";
import { createTestDatabase } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import { startServiceProcess } from "@parley/testkit/programs/service-process";
import postgres from "postgres";
import { addDocument, knowledgeClient, newBase, READY } from "./kit.ts";

const database = await createTestDatabase();
const sql = postgres(database.urls.knowledge, { max: 1, onnotice: () => {} });
const start = () =>
  startServiceProcess("knowledge", { DATABASE_URL: database.urls.knowledge, PARLEY_AGENT_ADDRESS: "127.0.0.1:1" });
afterAll(async () => {
  await sql.end();
  await database.drop();
});

const DOCUMENTS = 6;

test("documents of a process that is killed while it reads them are all read, and each is stored once", async () => {
  const ownerId = newOwner();
  const readySoFar = async () => {
    const [row] = await sql<{ ready: number }[]>`
      select count(*)::integer as ready from documents where owner_id = ${ownerId} and status = 'READY'`;
    return row?.ready ?? 0;
  };
  let service = await start();
  const client = knowledgeClient(service.address);
  const base = await newBase(client, ownerId);
  const texts = Array.from(
    { length: DOCUMENTS },
    (_, at) => `# Repair ${at}\n\nRepair number ${at} costs ${at} euros.`,
  );
  for (const [at, text] of texts.entries()) await addDocument(client, base, text, `${at}.txt`);
  client.close();
  for (const ready of [1, 3]) {
    await eventually(async () => expect(await readySoFar()).toBeGreaterThanOrEqual(ready));
    await service.stop("SIGKILL");
    // Nobody waits until the lease of the dead process ends.
    await sql`update jobs set leased_until = now() where owner_id = ${ownerId} and leased_until is not null`;
    service = await start();
  }
  const again = knowledgeClient(service.address);
  await eventually(async () => expect(await readySoFar()).toBe(DOCUMENTS));
  const { documents } = await again.listDocuments({
    ...base,
    page: { number: 1, size: 100 },
    search: "",
    status: READY,
  });
  expect(documents.every(({ error, chunkCount }) => error === undefined && chunkCount === 1)).toBeTrue();
  const count = async (table: string) => {
    const [row] = await sql<{ rows: number }[]>`
      select count(*)::integer as rows from ${sql(table)} where owner_id = ${ownerId}`;
    return [table, row?.rows];
  };
  const tables = ["texts", "chunks", "chunk_words", "contents", "content_parts"];
  expect(await Promise.all(tables.map(count))).toEqual([
    ...["texts", "chunks", "chunk_words"].map((table) => [table, DOCUMENTS]),
    ["contents", 0],
    ["content_parts", 0],
  ]);
  const [totals] = await sql`select sum(chunks)::integer as chunks from base_languages where owner_id = ${ownerId}`;
  expect(totals?.chunks).toBe(DOCUMENTS);
  again.close();
  await service.stop();
});
