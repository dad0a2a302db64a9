import { afterAll, expect, test } from "bun:test";
import { silentLogger } from "@parley/shared/log";
import { eventually } from "@parley/testkit/eventually";
import { failure } from "@parley/testkit/failures";
import { readKnowledgeConfig } from "../src/config.ts";
import { startKnowledge } from "../src/service.ts";
import type { Parsed } from "../src/text/parse.ts";
import {
  addDocument,
  chunksOf,
  FAILED,
  newBase,
  PENDING,
  PLAIN,
  plainParser,
  READY,
  replace,
  sent,
  settled,
  startTestKnowledge,
  textOf,
} from "./kit.ts";

/** The documents that are being read; each waits until the test lets it go on. */
const held = new Map<string, () => void>();
const reading: string[] = [];
const parser = {
  parse: async (content: Parameters<typeof plainParser.parse>[0], signal: AbortSignal): Promise<Parsed> => {
    const text = new TextDecoder().decode(content.bytes);
    reading.push(text);
    if (text.startsWith("Held")) await new Promise<void>((resolve) => held.set(text, resolve));
    return plainParser.parse(content, signal);
  },
};
const { client, sql, databaseUrl, stop } = await startTestKnowledge({}, { parser });
afterAll(async () => {
  for (const goOn of held.values()) goOn();
  await stop();
});

const OLD = "Small repairs cost 40 euros.\n\nLarge ones cost 90.";
const NEW = "Small repairs cost 45 euros.";

test("a document is pending at once, and then ready with its text in chunks", async () => {
  const base = await newBase(client);
  const { documentId, status, duplicate } = await addDocument(client, base, OLD);
  expect([status, duplicate]).toEqual([PENDING, false]);
  expect(await settled(client, base, documentId)).toMatchObject({
    status: READY,
    language: "en",
    mediaType: "text/plain",
    chunkCount: 2,
    bytes: OLD.length,
    characters: OLD.length,
  });
  expect(await textOf(client, base, documentId)).toBe(OLD);
  expect(await chunksOf(sql, base, documentId)).toEqual(OLD.split("\n\n"));
});

test("a text of several parts is returned as a whole, with every character", async () => {
  const base = await newBase(client);
  const text = `${"x".repeat(65_535)}😀${"y".repeat(70_000)}`;
  const { documentId } = await addDocument(client, base, text);
  expect((await settled(client, base, documentId)).characters).toBe(135_536);
  expect((await textOf(client, base, documentId)) === text).toBeTrue();
});

test("the same content twice in a base is one document, and one that failed is read again", async () => {
  const [base, other] = [await newBase(client), await newBase(client)];
  const first = await addDocument(client, base, OLD, "first.txt");
  expect(await addDocument(client, base, OLD, "second.txt")).toMatchObject({
    documentId: first.documentId,
    duplicate: true,
  });
  expect((await addDocument(client, other, OLD)).duplicate).toBeFalse();
  const failed = await addDocument(client, base, "Unreadable");
  expect(await settled(client, base, failed.documentId)).toMatchObject({
    status: FAILED,
    error: "The PDF is encrypted.",
  });
  const readings = reading.filter((text) => text === "Unreadable").length;
  expect(await addDocument(client, base, "Unreadable")).toMatchObject({ ...failed, duplicate: true, status: PENDING });
  await settled(client, base, failed.documentId);
  expect(reading.filter((text) => text === "Unreadable")).toHaveLength(readings + 1);
});

test("the old content serves until the new one is ready, and stays if the new one cannot be read", async () => {
  const base = await newBase(client);
  const { documentId } = await addDocument(client, base, OLD);
  await settled(client, base, documentId);
  const replaced = await replace(client, base, documentId, `Held\n\n${NEW}`);
  expect(replaced.document).toMatchObject({ status: PENDING, characters: OLD.length });
  await eventually(() => expect([...held.keys()]).toContain(`Held\n\n${NEW}`));
  expect(await textOf(client, base, documentId)).toBe(OLD);
  expect(await chunksOf(sql, base, documentId)).toEqual(OLD.split("\n\n"));
  held.get(`Held\n\n${NEW}`)?.();
  expect(await settled(client, base, documentId)).toMatchObject({ status: READY, chunkCount: 2 });
  expect(await chunksOf(sql, base, documentId)).toEqual(["Held", NEW]);
  await replace(client, base, documentId, "Unreadable");
  expect(await settled(client, base, documentId)).toMatchObject({ status: READY, error: "The PDF is encrypted." });
  expect(await textOf(client, base, documentId)).toBe(`Held\n\n${NEW}`);
});

test("a document does not take the content that another one has, and keeps its own without reading it again", async () => {
  const base = await newBase(client);
  const first = await addDocument(client, base, OLD, "first.txt");
  const second = await addDocument(client, base, NEW, "second.txt");
  await settled(client, base, second.documentId);
  expect(await failure(replace(client, base, second.documentId, OLD))).toMatchObject({
    kind: "conflict",
    detail: `The document first.txt (${first.documentId}) has this content already: delete one of the two documents`,
  });
  const readings = reading.length;
  expect(await replace(client, base, second.documentId, NEW)).toMatchObject({
    duplicate: true,
    document: { status: READY },
  });
  expect(reading).toHaveLength(readings);
});

test("a document that is deleted while it is read leaves nothing behind", async () => {
  const base = await newBase(client);
  const { documentId } = await addDocument(client, base, "Held for deletion");
  await eventually(() => expect([...held.keys()]).toContain("Held for deletion"));
  await client.deleteDocument({ ...base, documentId, idempotency: undefined });
  held.get("Held for deletion")?.();
  const after = await addDocument(client, base, "Read afterwards");
  await settled(client, base, after.documentId);
  const rows = await sql`
    select text_id from texts where owner_id = ${base.ownerId} union all select chunk_id from chunks
    where owner_id = ${base.ownerId}`;
  expect(rows).toHaveLength(2);
});

test("a document whose process was lost is read again by another run, and stored once", async () => {
  const base = await newBase(client);
  const { documentId } = await addDocument(client, base, "Held by a lost process");
  await eventually(() => expect([...held.keys()]).toContain("Held by a lost process"));
  const lost = held.get("Held by a lost process");
  const config = readKnowledgeConfig({ DATABASE_URL: databaseUrl, PARLEY_AGENT_ADDRESS: "127.0.0.1:1" });
  const another = await startKnowledge(config, silentLogger, { pollMs: 50, parser });
  // As if the process had been frozen until its lease ended.
  await sql`update jobs set leased_until = now() - interval '1 second' where owner_id = ${base.ownerId}`;
  await eventually(() => expect(held.get("Held by a lost process")).not.toBe(lost));
  held.get("Held by a lost process")?.();
  await settled(client, base, documentId);
  await another.stop();
  lost?.();
  await eventually(async () => expect(await sql`select from jobs where owner_id = ${base.ownerId}`).toHaveLength(0));
  expect(await chunksOf(sql, base, documentId)).toEqual(["Held by a lost process"]);
  expect(await sql`select from texts where owner_id = ${base.ownerId}`).toHaveLength(1);
});

test("documents of one owner are read one at a time, while those of others are read", async () => {
  const [base, other] = [await newBase(client), await newBase(client)];
  const first = await addDocument(client, base, "Held first");
  const second = await addDocument(client, base, "Held second");
  await eventually(() => expect([...held.keys()]).toContain("Held first"));
  const others = await addDocument(client, other, "Read meanwhile");
  await settled(client, other, others.documentId);
  expect(reading).not.toContain("Held second");
  held.get("Held first")?.();
  await settled(client, base, first.documentId);
  await eventually(() => expect([...held.keys()]).toContain("Held second"));
  held.get("Held second")?.();
  await settled(client, base, second.documentId);
});

test("bytes that did not arrive, or are no document, are refused", async () => {
  const base = await newBase(client);
  const { source } = await sent(client, base.ownerId, "Half");
  const half = { source: { ...source, value: { ...source.value, bytes: 8 } } };
  expect(await failure(client.createDocument({ ...base, ...PLAIN, name: "half.txt", content: half }))).toMatchObject({
    kind: "invalid",
    detail: "The document did not arrive as a whole. Send it again.",
  });
  const picture = await sent(client, base.ownerId, "\u0089PNG\r\n\u001a\n\0\0", "image/png");
  expect(await failure(client.createDocument({ ...base, ...PLAIN, name: "a.png", content: picture }))).toMatchObject({
    kind: "invalid",
    paths: ["file"],
  });
});
