import { afterAll, expect, test } from "bun:test";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { addDocument, newBase, PLAIN, replace, settled, startTestKnowledge, type TestBase } from "./kit.ts";

const { client, stop } = await startTestKnowledge();
afterAll(stop);

async function addReady(base: TestBase, text: string, name?: string): Promise<string> {
  const { documentId } = await addDocument(client, base, text, name);
  await settled(client, base, documentId);
  return documentId;
}

const search = async (base: TestBase, query: string, maxChunks = 6) =>
  (await client.search({ ...base, query, maxChunks, language: undefined })).chunks;

const use = ({ knowledgeBaseId }: TestBase, given: object = {}) => ({
  ...{ knowledgeBaseId, whole: false, maxChunks: 6, maxCharacters: 8_000, minScore: undefined },
  ...given,
});
const ASKED = { language: undefined, wholeCharactersMax: undefined, withinMs: 10_000 };

test("a search answers the chunks that have the words, with their document and scores from 0 to 1", async () => {
  const base = await newBase(client);
  const documentId = await addReady(base, "Small repairs cost 40 euros.\n\nWe are closed on Sundays.", "prices.txt");
  const chunks = await search(base, "What does a small repair cost?");
  expect(chunks[0]).toMatchObject({
    chunkId: expect.stringMatching(/^chk_/),
    documentId,
    documentName: "prices.txt",
    text: "Small repairs cost 40 euros.",
  });
  expect(chunks[0]?.score).toBeWithin(0.01, 1.000_001);
  expect(await search(base, "unheard")).toEqual([]);
});

test("a chunk that a search found is read by its id until its document has other content", async () => {
  const base = await newBase(client);
  const documentId = await addReady(base, "# Repairs\n\nSmall repairs cost 40 euros.", "prices.md");
  const [found] = await search(base, "repairs");
  const key = { ...base, documentId, chunkId: found?.chunkId ?? "" };
  expect(await client.getChunk(key)).toEqual({
    documentName: "prices.md",
    heading: found?.heading ?? "",
    text: found?.text ?? "",
  });
  await replace(client, base, documentId, "Small repairs cost 45 euros.");
  await settled(client, base, documentId);
  expect(await failure(client.getChunk(key))).toMatchObject({ kind: "not_found", detail: "Chunk not found" });
});

test("what is deleted or replaced is not found from the next search on", async () => {
  const base = await newBase(client);
  const documentId = await addReady(base, "Small repairs cost 40 euros.");
  await replace(client, base, documentId, "Small repairs cost 45 euros.");
  await settled(client, base, documentId);
  expect((await search(base, "small repairs")).map(({ text }) => text)).toEqual(["Small repairs cost 45 euros."]);
  await client.deleteDocument({ ...base, documentId, idempotency: undefined });
  expect(await search(base, "small repairs")).toEqual([]);
  await client.deleteKnowledgeBase({ ...base, idempotency: undefined });
  expect(await failure(search(base, "small repairs"))).toMatchObject({ kind: "not_found" });
  const gathered = await client.gatherKnowledge({ ...base, ...ASKED, uses: [use(base)], query: "small repairs" });
  expect(gathered.chunks).toEqual([]);
});

test("a turn is given each base's best chunks, as many and as long as the agent says, and nothing of other owners", async () => {
  const ownerId = newOwner();
  const [prices, hours, foreign] = [
    await newBase(client, ownerId),
    await newBase(client, ownerId),
    await newBase(client),
  ];
  await addReady(prices, "Repairs of screens cost 40 euros.\n\nRepairs of lids cost 90 euros.");
  await addReady(hours, "Repairs are made from Monday to Friday.");
  await addReady(foreign, "Repairs of others cost nothing.");
  const gather = async (...uses: ReturnType<typeof use>[]) =>
    (await client.gatherKnowledge({ ownerId, ...ASKED, uses, query: "repairs" })).chunks.map(({ text }) => text);
  expect((await gather(use(prices), use(hours), use(foreign))).toSorted()).toEqual([
    "Repairs are made from Monday to Friday.",
    "Repairs of lids cost 90 euros.",
    "Repairs of screens cost 40 euros.",
  ]);
  expect(await gather(use(prices, { maxChunks: 1 }))).toHaveLength(1);
  expect(await gather(use(prices, { maxCharacters: 40 }))).toHaveLength(1);
  expect(await gather(use(prices, { minScore: 1.1 }))).toEqual([]);
});

test("a turn is told the hash of each base that it uses, not of those that are gone or another owner's", async () => {
  const [base, foreign] = [await newBase(client), await newBase(client)];
  await addReady(base, "40 euros");
  const uses = [use(base), use(foreign), use({ ...base, knowledgeBaseId: "kb_gone" })];
  const { documentSets } = await client.gatherKnowledge({ ...base, ...ASKED, uses, query: "euros" });
  const { knowledgeBase } = await client.getKnowledgeBase(base);
  const { knowledgeBaseId, documentsHash = "" } = knowledgeBase ?? {};
  expect(documentSets).toEqual([{ knowledgeBaseId: knowledgeBaseId ?? "", documentsHash }]);
});

test("whole texts come oldest first, and are cut where they are too long together", async () => {
  const base = await newBase(client);
  const first = await addReady(base, "First", "a.txt");
  const second = await addReady(base, "Second 😀😀", "b.txt");
  const whole = (wholeCharactersMax?: number) =>
    client.gatherKnowledge({ ...base, ...ASKED, wholeCharactersMax, uses: [use(base, { whole: true })], query: "" });
  const all = await whole();
  expect(all.texts.map(({ documentId, text }) => [documentId, text])).toEqual([
    [first, "First"],
    [second, "Second 😀😀"],
  ]);
  expect(all.truncated).toBeFalse();
  const cut = await whole(13);
  expect(cut.texts.map(({ text }) => text)).toEqual(["First", "Second 😀"]);
  expect(cut.truncated).toBeTrue();
});

test("a whole text that is not longer than it may be is given as a whole, whatever its characters", async () => {
  const base = await newBase(client);
  const text = "😀".repeat(39_000);
  await addReady(base, text);
  const uses = [use(base, { whole: true })];
  const gathered = await client.gatherKnowledge({ ...base, ...ASKED, uses, query: "" });
  expect([gathered.texts[0]?.text === text, gathered.truncated]).toEqual([true, false]);
});

test("a query beyond the limits of a search is refused", async () => {
  const base = await newBase(client);
  expect(await failure(search(base, "x".repeat(4_001)))).toMatchObject({ kind: "invalid", paths: ["query"] });
  expect(await failure(search(base, "x", 51))).toMatchObject({ kind: "invalid", paths: ["max_chunks"] });
  const language = "klingon";
  expect(await failure(client.search({ ...base, query: "x", maxChunks: 1, language }))).toMatchObject({
    kind: "invalid",
    paths: ["language"],
  });
  expect(await failure(client.createDocument({ ...base, ...PLAIN, name: "x", content: undefined }))).toMatchObject({
    kind: "invalid",
  });
});
