import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { systemClock } from "@parley/shared/clock";
import { type Database, openDatabase } from "@parley/shared/db/database";
import { newId } from "@parley/shared/ids";
import { startWorker } from "@parley/shared/jobs/worker";
import { createLogger } from "@parley/shared/log";
import { createTestDatabase, type TestDatabase } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { replaceChunks } from "../src/search/index-chunks.ts";
import { createSearch, type Search, type SearchAnswer } from "../src/search/search.ts";
import { type EmbeddingsServer, lettersOf, startEmbeddingsServer, vectors } from "./embeddings-server.ts";

const log = createLogger("test", "fatal");
let database: TestDatabase;
let db: Database;
let server: EmbeddingsServer;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase({ url: database.urls.knowledge, name: "test" });
  server = startEmbeddingsServer();
});
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  server.answer = null;
  for (const stop of stops.splice(0)) await stop();
});
afterAll(async () => {
  await server.stop();
  await db.end();
  await database.drop();
});

function open(model: string | null): Search {
  return createSearch({
    db,
    clock: systemClock,
    log,
    embeddings: {
      PARLEY_EMBEDDINGS_URL: model === null ? "" : server.url,
      PARLEY_EMBEDDINGS_MODEL: model ?? "",
      PARLEY_EMBEDDINGS_API_KEY: "",
    },
  });
}

/** Runs the jobs of a search until the test ends. */
function run(search: Search): void {
  const worker = startWorker(db, search.queues, log, { clock: systemClock, pollMs: 20 });
  stops.push(() => worker.stop());
}

interface Written {
  ownerId: string;
  baseId: string;
  documentId: string;
}

async function write(texts: readonly string[], given: Partial<Written> = {}): Promise<Written> {
  const key = { ownerId: newId("own"), baseId: newId("kb"), documentId: newId("doc"), ...given };
  await db.begin(async (tx) => {
    await replaceChunks(
      tx,
      { ...key, language: "en" },
      texts.map((text) => ({ heading: "", text })),
    );
    await tx`
      insert into documents (owner_id, document_id, base_id, name, status, language, created_at, updated_at)
      values (${key.ownerId}, ${key.documentId}, ${key.baseId}, 'Prices', 'READY', 'en', now(), now())
      on conflict (owner_id, document_id) do nothing`;
  });
  return key;
}

function ask(search: Search, { ownerId, baseId }: Written, query: string, more: object = {}): Promise<SearchAnswer> {
  return search.search({
    ownerId,
    baseIds: [baseId],
    query,
    maxChunks: 6,
    withinMs: 5_000,
    signal: new AbortController().signal,
    ...more,
  });
}

async function embedded({ ownerId, documentId }: Written): Promise<number> {
  const [row] = await db<{ embeddedChunks: number }[]>`
    select embedded_chunks from documents where owner_id = ${ownerId} and document_id = ${documentId}`;
  return row?.embeddedChunks ?? -1;
}

const textsOf = ({ chunks }: SearchAnswer) => chunks.map(({ text }) => text);

test("without an embedder, words are searched, and answers have the document's name and a score", async () => {
  const written = await write(["The gold plan costs 29", "Contact us"]);
  expect(await ask(open(null), written, "gold plan")).toMatchObject({
    semantic: "off",
    chunks: [
      {
        documentId: written.documentId,
        name: "Prices",
        text: "The gold plan costs 29",
        semanticScore: null,
        heading: "",
      },
    ],
  });
});

test("chunks below the lowest score are left out, and so are those of a deleted document", async () => {
  const search = open(null);
  const written = await write(["gold plan price", "gold and other things that are not in the question"]);
  const { chunks } = await ask(search, written, "gold plan price");
  expect(chunks).toHaveLength(2);
  expect(textsOf(await ask(search, written, "gold plan price", { minScore: chunks[0]?.score }))).toEqual([
    "gold plan price",
  ]);
  await db`delete from documents where owner_id = ${written.ownerId}`;
  expect(await ask(search, written, "gold plan price")).toEqual({ chunks: [], semantic: "off" });
});

test("a document gets its vectors, is found by meaning, and says how many chunks have one", async () => {
  const search = open("letters");
  run(search);
  const written = await write(["listen", "zzzz"]);
  await search.changed(written.ownerId, written.baseId);
  await eventually(async () => expect(await embedded(written)).toBe(2));
  const answer = await ask(search, written, "silent");
  expect(answer).toMatchObject({ semantic: "ok", chunks: [{ text: "listen", lexicalScore: 0 }, { text: "zzzz" }] });
  expect(answer.chunks[0]?.semanticScore).toBeCloseTo(1, 5);
  expect(answer.chunks[0]?.score).toBe(answer.chunks[0]?.semanticScore ?? 0);
});

test("a corrected document pays for its new chunks only", async () => {
  const search = open("letters");
  run(search);
  const written = await write(["listen", "enlist"]);
  await search.changed(written.ownerId, written.baseId);
  await eventually(async () => expect(await embedded(written)).toBe(2));
  server.requests.length = 0;
  await write(["listen", "tinsel"], written);
  await search.changed(written.ownerId, written.baseId);
  await eventually(() => expect(server.requests.flatMap(({ input }) => input)).toEqual(["tinsel"]));
  await eventually(async () =>
    expect(textsOf(await ask(search, written, "silent")).toSorted()).toEqual(["listen", "tinsel"]),
  );
});

test("after a change of model the old vectors serve, with queries of the old model, until the new ones are complete", async () => {
  const before = open("letters");
  run(before);
  const written = await write(["listen", "zzzz"]);
  await before.changed(written.ownerId, written.baseId);
  await eventually(async () => expect(await embedded(written)).toBe(2));
  for (const stop of stops.splice(0)) await stop();

  const after = open("newer");
  server.requests.length = 0;
  expect(await ask(after, written, "silent")).toMatchObject({ semantic: "ok", chunks: [{ text: "listen" }, {}] });
  expect(server.requests).toMatchObject([{ model: "letters", input: ["silent"] }]);
  server.answer = ({ model, input }) =>
    model === "newer" ? vectors(input.map((text) => [...lettersOf(text), 1])) : null;
  const [sweep] = after.sweeps;
  await sweep?.run(new Date(), new AbortController().signal);
  run(after);
  await eventually(async () => {
    const models = await db`select distinct model from embeddings where owner_id = ${written.ownerId}`;
    expect(models.map(({ model }) => model)).toEqual(["newer"]);
  });
  server.requests.length = 0;
  expect(await ask(after, written, "silent")).toMatchObject({ semantic: "ok", chunks: [{ text: "listen" }, {}] });
  expect(server.requests[0]?.model).toBe("newer");
});

test.each<[string, EmbeddingsServer["answer"]]>([
  ["fails", () => new Response("", { status: 500 })],
  ["refuses the key", () => new Response("", { status: 401 })],
  ["answers no JSON", () => new Response("<html>")],
  ["answers too few vectors", () => vectors([])],
  ["answers a vector for a text that it was not sent", () => Response.json({ data: [{ index: 4e9, embedding: [1] }] })],
  ["answers numbers that are none", () => Response.json({ data: [{ index: 0, embedding: ["x", null] }] })],
  ["never answers", () => new Promise<Response>(() => {})],
])("a search by words succeeds while the embedder %s", async (_, answer) => {
  server.answer = answer;
  const written = await write(["gold plan"]);
  expect(await ask(open("letters"), written, "gold", { withinMs: 500 })).toMatchObject({
    semantic: "missed",
    chunks: [{ text: "gold plan", semanticScore: null }],
  });
});

test("a search by words succeeds when the embedder answers another number of dimensions", async () => {
  const search = open("letters");
  run(search);
  const written = await write(["gold plan"]);
  await search.changed(written.ownerId, written.baseId);
  await eventually(async () => expect(await embedded(written)).toBe(1));
  server.answer = () => vectors([[1, 0]]);
  expect(textsOf(await ask(search, written, "gold"))).toEqual(["gold plan"]);
});

test("an embedder that failed three times in a row is not asked for a while", async () => {
  server.answer = () => new Response("", { status: 500 });
  const search = open("letters");
  const written = await write(["gold plan"]);
  server.requests.length = 0;
  for (let time = 0; time < 5; time++) await ask(search, written, "gold");
  expect(server.requests).toHaveLength(3);
});

test("questions that the embedder refuses, and searches that are given up, do not keep others from meaning", async () => {
  const search = open("letters");
  run(search);
  const written = await write(["listen"]);
  await search.changed(written.ownerId, written.baseId);
  await eventually(async () => expect(await embedded(written)).toBe(1));
  server.answer = () => new Response("", { status: 400 });
  for (let time = 0; time < 3; time++) expect(await ask(search, written, "x")).toMatchObject({ semantic: "missed" });
  for (let time = 0; time < 3; time++) {
    const gone = new AbortController();
    server.answer = () => {
      gone.abort(new Error("gone"));
      return new Promise<Response>(() => {});
    };
    const given = ask(search, written, "x", { signal: gone.signal });
    expect(await given.catch((error) => error)).toMatchObject({ message: "gone" });
  }
  server.answer = null;
  expect(await ask(search, written, "silent")).toMatchObject({ semantic: "ok", chunks: [{ text: "listen" }] });
});

test("a chunk that the embedder refuses keeps no other from its vector", async () => {
  server.answer = ({ input }) =>
    input.some((text) => text.includes("bad")) ? new Response("", { status: 400 }) : null;
  const search = open("letters");
  run(search);
  const written = await write(["listen", "bad", "tinsel"]);
  await search.changed(written.ownerId, written.baseId);
  await eventually(async () => expect(await embedded(written)).toBe(2));
});

test("a search that is given up ends with its signal's reason, and one without time with a deadline", async () => {
  const written = await write(["gold plan"]);
  const gone = AbortSignal.abort(new Error("gone"));
  expect(ask(open(null), written, "gold", { signal: gone })).rejects.toThrow("gone");
  await db.begin(async (tx) => {
    await tx`lock table base_languages in access exclusive mode`;
    expect(await ask(open(null), written, "gold", { withinMs: 50 }).catch((error) => error)).toMatchObject({
      kind: "deadline",
    });
  });
});
