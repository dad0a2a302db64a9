import { afterAll, expect, test } from "bun:test";
import { newOwner } from "@parley/testkit/owners";
import { numberEnded } from "../src/store/search/number-conversations.ts";
import { PART } from "../src/store/search/number-set.ts";
import { insertPart } from "../src/store/search/terms.ts";
import { eachTerm } from "../src/store/search/text-terms.ts";
import { insert, request, startTestLists, stored } from "./lists-kit.ts";

// What one owner's texts may take while they are indexed.

const lists = await startTestLists();
afterAll(() => lists.stop());

const MIB = 1024 * 1024;

/** Different words; a place always has the same one. */
function wordsOf(at: number, count: number): string {
  return Array.from({ length: count }, (_, n) => `w${(at * count + n).toString(36)}`).join(" ");
}

async function totalOf(ownerId: string, search: string): Promise<number> {
  return (await lists.lists.listConversations(request(ownerId, { search }))).total;
}

test("a part with more words than the index job holds in memory is indexed like any other", async () => {
  const ownerId = newOwner();
  const all = Array.from({ length: PART }, (_, at) => stored({ ownerId, messages: [`everywhere ${wordsOf(at, 5)}`] }));
  await insert(lists.db, all);
  expect(await numberEnded(lists.db, ownerId)).toBe(true);
  await lists.db.begin(async (tx) => {
    await insertPart(tx, ownerId, 0, { terms: 3_000, places: 100_000 });
    await tx`update search_owners set indexed = ${PART} where owner_id = ${ownerId}`;
  });
  expect(await totalOf(ownerId, "everywhere")).toBe(PART);
  for (const at of [0, 1, 777, PART - 1]) expect(await totalOf(ownerId, ` ${wordsOf(at, 5)}`)).toBe(1);
  const [row] = await lists.db<{ words: number }[]>`
    select count(*)::integer as words from search_terms where owner_id = ${ownerId} and kind = 'word'`;
  expect(row?.words).toBe(1 + 5 * PART);
});

test("long texts are indexed a few megabytes at a time, and the owner's time slice may end in between", async () => {
  const ownerId = newOwner();
  const long = "long text ".repeat(100_000);
  await insert(
    lists.db,
    Array.from({ length: 20 }, (_, at) => stored({ ownerId, messages: [long, `number ${at}`] })),
  );
  const numbered = async () => {
    const [row] = await lists.db`select count(*)::integer as count from search_documents where owner_id = ${ownerId}`;
    return row?.count;
  };
  expect(await numberEnded(lists.db, ownerId, () => true)).toBe(false);
  const first = await numbered();
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThan(20);
  expect(await numberEnded(lists.db, ownerId)).toBe(true);
  expect(await numbered()).toBe(20);
});

test("in a conversation of more than 4 MiB the newest messages are searched, the same that are read", async () => {
  const ownerId = newOwner();
  const messages = ["the oldest", ...Array.from({ length: 5 }, () => "x".repeat(MIB - 100)), "the newest"];
  await insert(lists.db, [stored({ ownerId, messages })]);
  await numberEnded(lists.db, ownerId);
  expect(await totalOf(ownerId, "newest")).toBe(1);
  expect(await totalOf(ownerId, "oldest")).toBe(0);
});

test("indexing a long text yields to other work about every millisecond", () => {
  const sink = { gram: () => {}, word: () => {}, seam: () => {} };
  for (const text of ["word ".repeat(100_000), "w".repeat(500_000)]) {
    expect(Array.from(eachTerm(text, sink)).length).toBeGreaterThan(text.length / 20_000);
  }
});
