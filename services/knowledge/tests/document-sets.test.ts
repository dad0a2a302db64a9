import { afterAll, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import { newId } from "@parley/shared/ids";
import type { Call } from "@parley/shared/rpc/call";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import fc from "fast-check";
import type { KnowledgeContext } from "../src/context.ts";
import { gatherKnowledge } from "../src/rpc/gather-knowledge.ts";
import { type BaseKey, insertBase } from "../src/store/bases.ts";
import { deleteDocumentRow, insertDocument, setReplacement, setText } from "../src/store/documents.ts";
import {
  addDocument,
  newBase,
  PENDING,
  PLAIN,
  plainParser,
  replace,
  sent,
  settled,
  startTestKnowledge,
  type TestBase,
} from "./kit.ts";

/** Lets the document go on that is being read. */
let release: (() => void) | undefined;
const { client, sql, databaseUrl, stop } = await startTestKnowledge(
  {},
  {
    parser: {
      parse: async (content, signal) => {
        if (new TextDecoder().decode(content.bytes) === "Held") await new Promise<void>((go) => (release = go));
        return plainParser.parse(content, signal);
      },
    },
  },
);
const db = openDatabase({ url: databaseUrl, name: "test" });
afterAll(async () => {
  release?.();
  await db.end();
  await stop();
});

const NOTHING = "0000000000000000";
const hashOf = async (base: TestBase) => (await client.getKnowledgeBase(base)).knowledgeBase?.documentsHash;

async function addReady(base: TestBase, text: string, name?: string): Promise<string> {
  const { documentId } = await addDocument(client, base, text, name);
  await settled(client, base, documentId);
  return documentId;
}

async function change(base: TestBase, documentId: string, text: string): Promise<string | undefined> {
  await replace(client, base, documentId, text);
  await settled(client, base, documentId);
  return hashOf(base);
}

test("the hash of a base changes when a text begins to serve and when it goes, and comes back with the old text", async () => {
  const base = await newBase(client);
  expect(await hashOf(base)).toBe(NOTHING);
  const documentId = await addReady(base, "40 euros");
  const first = await hashOf(base);
  expect(first).toMatch(/^[0-9a-f]{16}$/);
  expect(first).not.toBe(NOTHING);
  const second = await change(base, documentId, "45 euros");
  expect([first, NOTHING]).not.toContain(second);
  expect(await change(base, documentId, "40 euros")).toBe(first);
  await client.deleteDocument({ ...base, documentId, idempotency: undefined });
  expect(await hashOf(base)).toBe(NOTHING);
  await addReady(base, "40 euros");
  expect(await hashOf(base)).toBe(first);
});

test("content that is being read, or cannot be read, leaves the hash of a base as it was", async () => {
  const base = await newBase(client);
  const documentId = await addReady(base, "40 euros");
  const before = await hashOf(base);
  await replace(client, base, documentId, "Held");
  await eventually(() => expect(release).toBeDefined());
  expect((await client.getDocument({ ...base, documentId })).document?.status).toBe(PENDING);
  expect(await hashOf(base)).toBe(before);
  release?.();
  expect((await settled(client, base, documentId)).characters).toBe(4);
  const held = await hashOf(base);
  expect(held).not.toBe(before);
  expect(await change(base, documentId, "Unreadable")).toBe(held);
  await addReady(base, "Unreadable", "another.txt");
  expect(await hashOf(base)).toBe(held);
});

test("the same documents have the same hash, whoever has them and in whatever order they came; another name is another document", async () => {
  const [base, other] = [await newBase(client), await newBase(client)];
  await addReady(base, "40 euros", "prices.txt");
  await addReady(base, "On Mondays", "hours.txt");
  await addReady(other, "On Mondays", "hours.txt");
  const documentId = await addReady(other, "40 euros", "prices.txt");
  const hash = await hashOf(base);
  expect(await hashOf(other)).toBe(hash);
  const content = await sent(client, other.ownerId, "40 euros");
  await client.replaceDocument({ ...other, ...PLAIN, documentId, name: "old prices.txt", content });
  await settled(client, other, documentId);
  expect(await hashOf(other)).not.toBe(hash);
  expect(await hashOf(base)).toBe(hash);
});

test("two documents with the same text both count", async () => {
  const base = await newBase(client);
  const first = await addReady(base, "Grows");
  const one = await hashOf(base);
  await addReady(base, "grows ".repeat(1_000));
  expect([one, NOTHING]).not.toContain(await hashOf(base));
  await client.deleteDocument({ ...base, documentId: first, idempotency: undefined });
  expect(await hashOf(base)).toBe(one);
});

test("a turn is told the hashes of the bases that answered, not of one that was late or not searched", async () => {
  const ownerId = newOwner();
  const bases = [await newBase(client, ownerId), await newBase(client, ownerId), await newBase(client, ownerId)];
  const [late = "", searched = "", whole = ""] = bases.map(({ knowledgeBaseId }) => knowledgeBaseId);
  const gather = gatherKnowledge({ db } as KnowledgeContext, async ({ baseIds }) => {
    if (baseIds.includes(late)) throw new ServiceError("deadline", "The search took too long. Try again.");
    return { chunks: [], semantic: "off" };
  });
  const told = async (query: string) => {
    const limits = { maxChunks: 6, maxCharacters: 8_000, minScore: undefined };
    const uses = [late, searched, whole].map((id) => ({ ...limits, knowledgeBaseId: id, whole: id === whole }));
    const asked = { ownerId, uses, query, language: undefined, wholeCharactersMax: undefined, withinMs: 60_000 };
    const { documentSets = [] } = await gather(asked, { signal: new AbortController().signal } as Call);
    return documentSets.map(({ knowledgeBaseId }) => knowledgeBaseId).toSorted();
  };
  expect(await told("euros")).toEqual([searched, whole].toSorted());
  expect(await told(" ")).toEqual([whole]);
});

const DOCUMENT = { givenLanguage: null, sha256: null, url: null, refreshHours: null };
const TEXT = {
  ...{ textId: "t", mediaType: "text/plain", language: "en", sha256: new Uint8Array() },
  ...{ bytes: 1, characters: 1, chunkCount: 1 },
};
const now = new Date();

interface Change {
  at: number;
  documentId: string;
  name: string;
  text: bigint;
  kind: string;
}

const aChange: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(1),
  documentId: fc.constantFrom("doc_1", "doc_2", "doc_3"),
  name: fc.constantFrom("a", "b"),
  text: fc.constantFrom(1n, 2n),
  kind: fc.constantFrom("serve", "serve", "rename", "delete"),
});

async function apply(base: BaseKey, { documentId, name, text, kind }: Change): Promise<void> {
  const key = { ...base, documentId };
  if (kind === "delete") await deleteDocumentRow(db, key);
  else if (kind === "rename") await setReplacement(db, key, { ...DOCUMENT, givenLanguage: undefined, name, now });
  else {
    // Another lane may have added it.
    await insertDocument(db, { ...key, ...DOCUMENT, name, now }).catch(() => {});
    await setText(db, key, { ...TEXT, textHash: text }, now);
  }
}

test("after changes of documents at the same time, the hash of each base is that of all its documents counted anew", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(aChange, { maxLength: 12 }), { minLength: 4, maxLength: 4 }), async (lanes) => {
      const bases = [newOwner(), newOwner()].map((ownerId) => ({ ownerId, baseId: newId("kb") }));
      for (const base of bases)
        await insertBase(db, { ...base, name: "Prices", description: "", createdAt: now, updatedAt: now });
      await Promise.all(
        lanes.map(async (lane) => {
          for (const change of lane) await apply(bases[change.at] as BaseKey, change);
        }),
      );
      const counted = await sql`
        select documents_hash = (
          select coalesce(sum(hashtextextended(name, text_hash)), 0) from documents
          where documents.owner_id = bases.owner_id and documents.base_id = bases.base_id
        ) as is_exact from bases where owner_id = any(${bases.map(({ ownerId }) => ownerId)})`;
      expect(counted.map(({ is_exact }) => is_exact)).toEqual([true, true]);
    }),
    { numRuns: 10 },
  );
});
