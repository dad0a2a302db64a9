import { afterAll, expect, test } from "bun:test";
import { newUuid } from "@parley/shared/ids";
import { deleteOldRows } from "@parley/shared/jobs/old-rows";
import { eventually } from "@parley/testkit/eventually";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { insertPart, putContent, UNTAKEN_PARTS } from "../src/store/contents.ts";
import { addDocument, FAILED, newBase, PLAIN, sent, settled, startTestKnowledge } from "./kit.ts";

const { client, sql, users, stop } = await startTestKnowledge({
  PARLEY_KNOWLEDGE_OWNER_BYTES: "3000",
  PARLEY_KNOWLEDGE_OWNER_DOCUMENTS: "2",
});
afterAll(stop);

test("a base that agents use is not deleted, and the refusal names them", async () => {
  const base = await newBase(client);
  users.set(base.knowledgeBaseId, ["Front desk", "Night shift"]);
  expect(await failure(client.deleteKnowledgeBase({ ...base, idempotency: undefined }))).toMatchObject({
    kind: "conflict",
    detail:
      "Knowledge base Prices is used by the agents Front desk, Night shift: take it out of every agent, in published versions too, before deleting it",
  });
  users.delete(base.knowledgeBaseId);
  expect(await client.deleteKnowledgeBase({ ...base, idempotency: undefined })).toMatchObject({ name: "Prices" });
  expect(await failure(client.getKnowledgeBase(base))).toMatchObject({ kind: "not_found" });
});

test("a base is forbidden to other owners, and says what its documents have together", async () => {
  const base = await newBase(client);
  const { documentId } = await addDocument(client, base, "Small repairs cost 40 euros.\n\nLarge ones cost 90.");
  await settled(client, base, documentId);
  const { knowledgeBase } = await client.getKnowledgeBase(base);
  expect(knowledgeBase).toMatchObject({ documentCount: 1, chunkCount: 2, bytes: 49, characters: 49 });
  const foreign = { ...base, ownerId: newOwner() };
  expect(await failure(client.getKnowledgeBase(foreign))).toMatchObject({ kind: "forbidden" });
  expect(await failure(client.listDocuments({ ...foreign, page: undefined, search: "", status: 0 }))).toMatchObject({
    kind: "forbidden",
  });
  const resolved = async (ownerId: string, withCharacters: boolean) => {
    const knowledgeBaseIds = [base.knowledgeBaseId, "kb_none"];
    return (await client.resolveKnowledgeBases({ ownerId, knowledgeBaseIds, withCharacters })).results;
  };
  expect(await resolved(base.ownerId, true)).toMatchObject([
    { knowledgeBase: { characters: 49 } },
    { isForeign: false },
  ]);
  expect(await resolved(base.ownerId, false)).toMatchObject([
    { knowledgeBase: { characters: 0 } },
    { isForeign: false },
  ]);
  expect(await resolved(foreign.ownerId, false)).toMatchObject([{ isForeign: true }, { isForeign: false }]);
});

test("nothing of a deleted base is left", async () => {
  const base = await newBase(client);
  const { documentId } = await addDocument(client, base, "Small repairs cost 40 euros.");
  await settled(client, base, documentId);
  await addDocument(client, base, "Unreadable");
  const deleted = await client.deleteKnowledgeBase({ ...base, idempotency: undefined });
  expect(deleted.documentsDeleted).toBe(2);
  expect(await failure(client.getDocument({ ...base, documentId }))).toMatchObject({ kind: "not_found" });
  for (const table of [
    "documents",
    "contents",
    "content_parts",
    "texts",
    "chunks",
    "chunk_words",
    "base_words",
    "jobs",
  ]) {
    const left = () => sql`select * from ${sql(table)} where owner_id = ${base.ownerId}`;
    await eventually(async () => expect([table, await left()]).toEqual([table, [] as never]));
  }
  const [stored] =
    await sql`select coalesce(sum(bytes), 0)::integer as bytes from stored_bytes where owner_id = ${base.ownerId}`;
  expect(stored?.bytes).toBe(0);
});

test("an owner has no more documents and no more bytes than the operator allows", async () => {
  const base = await newBase(client);
  expect(await failure(addDocument(client, base, "x".repeat(3_000)))).toMatchObject({
    kind: "conflict",
    detail: "Documents would have more than 3,000 bytes together: delete documents that you no longer need",
  });
  for (const text of ["one", "two"]) await addDocument(client, base, text);
  expect(await failure(addDocument(client, base, "three"))).toMatchObject({
    kind: "conflict",
    detail: "There are 2 documents already: delete documents that you no longer need",
  });
});

test("content that is refused, or was sent twice, takes no room", async () => {
  const base = await newBase(client);
  const partsOf = async (ownerId = base.ownerId) =>
    (await sql`select from content_parts where owner_id = ${ownerId}`).length;
  const missing = { ...base, knowledgeBaseId: "kb_none" };
  expect(await failure(addDocument(client, missing, "Prices"))).toMatchObject({ kind: "not_found" });
  expect(await partsOf()).toBe(0);
  const contentId = newUuid();
  const add = (part: number) =>
    client.addContent({ ownerId: base.ownerId, contentId, part, data: Buffer.alloc(2_000, "x") });
  await add(0);
  expect(await failure(add(1))).toMatchObject({ kind: "conflict" });
  expect(await partsOf()).toBe(0);
  const idempotency = { key: "once", fingerprint: Buffer.alloc(32) };
  for (const _ of ["first", "again"]) {
    const content = await sent(client, base.ownerId, "Prices");
    await client.createDocument({ ...base, ...PLAIN, name: "prices.txt", content, idempotency });
  }
  await eventually(async () => expect(await partsOf()).toBe(0));
});

test("bytes that no document took are deleted after an hour, and bytes that wait for their turn stay", async () => {
  const ownerId = newOwner();
  const createdAt = new Date("2100-01-01");
  for (const contentId of ["taken", "left"])
    await insertPart(sql, { ownerId, contentId, part: 0 }, Buffer.from("x"), createdAt);
  const waiting = { ownerId, documentId: "doc", contentId: "taken", mediaType: null, sha256: null, bytes: 1 };
  await putContent(sql, waiting, createdAt);
  const left = async (now: string) => {
    await deleteOldRows(sql, UNTAKEN_PARTS, new Date(now));
    return (await sql`select content_id as id from content_parts where owner_id = ${ownerId} order by 1`).map(
      ({ id }) => id,
    );
  };
  expect(await left("2100-01-01T00:59:59Z")).toEqual(["left", "taken"]);
  expect(await left("2100-01-01T01:00:01Z")).toEqual(["taken"]);
});

test("a text that is longer than its file and finds no room fails, and says so", async () => {
  const base = await newBase(client, newOwner(), "x");
  const { documentId } = await addDocument(client, base, "Grows");
  const found = await settled(client, base, documentId);
  expect(found.error).toStartWith("Documents would have more than 3,000 bytes together");
});

test("each chunk of a document counts towards the limit, however short it is", async () => {
  const base = await newBase(client);
  const { documentId } = await addDocument(client, base, "a\n\n".repeat(15));
  expect(await settled(client, base, documentId)).toMatchObject({
    status: FAILED,
    error: expect.stringContaining("delete documents that you no longer need"),
  });
});
