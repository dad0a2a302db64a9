import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Database, openDatabase } from "@parley/shared/db/database";
import { newId } from "@parley/shared/ids";
import { createTestDatabase, type TestDatabase } from "@parley/testkit/database";
import { deleteChunks, replaceChunks } from "../src/search/index-chunks.ts";
import { searchWords } from "../src/search/lexical.ts";

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase({ url: database.urls.knowledge, name: "test" });
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

interface Base {
  ownerId: string;
  baseId: string;
}

function newBase(ownerId = newId("own")): Base {
  return { ownerId, baseId: newId("kb") };
}

async function write(
  base: Base,
  texts: readonly string[],
  language = "en",
  documentId = newId("doc"),
): Promise<string> {
  const chunks = texts.map((text) => ({ heading: "", text }));
  await db.begin((tx) => replaceChunks(tx, { ...base, documentId, language }, chunks));
  return documentId;
}

/** The texts found, the best first. */
async function find(base: Base, query: string, language?: string): Promise<string[]> {
  const ranked = await searchWords(db, { ...base, baseIds: [base.baseId], query, language, limit: 10 });
  const ids = ranked.map(({ chunkId }) => chunkId);
  const rows = await db<{ text: string }[]>`
    select text from chunks where owner_id = ${base.ownerId} and chunk_id = any(${ids}::text[]) order by array_position(${ids}::text[], chunk_id)`;
  return rows.map(({ text }) => text);
}

async function totalsOf({ ownerId, baseId }: Base): Promise<unknown> {
  const languages = await db`
    select language, chunks, words from base_languages where owner_id = ${ownerId} and base_id = ${baseId} order by language`;
  const words =
    await db`select term, chunks from base_words where owner_id = ${ownerId} and base_id = ${baseId} order by term`;
  return { languages: [...languages], words: [...words] };
}

test("a chunk with a rare word of the question comes before chunks with common ones", async () => {
  const base = newBase();
  await write(base, [
    "The price of the gold plan.",
    "The price of the plan, the price of all plans.",
    "The price of the silver plan.",
    "Contact us.",
  ]);
  expect((await find(base, "What is the price of the gold plan?"))[0]).toBe("The price of the gold plan.");
});

test.each([
  ["en", "We deliver on Mondays", "delivery monday"],
  ["de", "Die Häuser werden montags geliefert", "Lieferung Haus"],
  ["fr", "Les livraisons sont gratuites", "livraison gratuite"],
  ["es", "Los precios de los coches", "precio coche"],
  ["ru", "Доставка товаров бесплатна", "доставку товара"],
  ["pl", "Darmowa dostawa", "DOSTAWA"],
  ["zh", "我们星期一送货", "星期一"],
  ["zh", "绿茶二十元", "茶"],
  ["ja", "配達は月曜日です", "月曜日"],
  ["ko", "배달은 월요일입니다", "월요일"],
  ["th", "เราจัดส่งวันจันทร์", "วันจันทร์"],
])("a document in %s is found by other forms of its words: %s by %s", async (language, text, query) => {
  const base = newBase();
  await write(base, [text, "7"], language);
  expect(await find(base, query)).toEqual([text]);
});

test("a word with an accent is found without it, and a price by its digits", async () => {
  const base = newBase();
  await write(base, ["Das Café in Zürich", "It costs 1,299.50 euros"], "en");
  expect(await find(base, "cafe zurich")).toEqual(["Das Café in Zürich"]);
  expect(await find(base, "1,299.50")).toEqual(["It costs 1,299.50 euros"]);
});

test("a base with documents in two languages is searched in both, or in the one that is asked for", async () => {
  const base = newBase();
  await write(base, ["We have parking for guests"], "en");
  await write(base, ["Wir haben Parking für Gäste"], "de");
  expect((await find(base, "parking")).toSorted()).toEqual([
    "We have parking for guests",
    "Wir haben Parking für Gäste",
  ]);
  expect(await find(base, "parking", "de")).toEqual(["Wir haben Parking für Gäste"]);
});

test("a search finds nothing of another base or another owner", async () => {
  const base = newBase();
  const sameOwner = newBase(base.ownerId);
  await write(base, ["The gold plan"]);
  expect(await find(sameOwner, "gold")).toEqual([]);
  expect(await find({ ...newBase(), baseId: base.baseId }, "gold")).toEqual([]);
});

test("a question of words that say nothing, of none, and of 4,000 characters finds what it can", async () => {
  const base = newBase();
  await write(base, ["The gold plan"]);
  expect(await find(base, "who are you")).toEqual([]);
  expect(await find(base, "?!")).toEqual([]);
  expect(await find(base, `gold ${"word ".repeat(799)}`)).toEqual(["The gold plan"]);
  expect(await find(base, Array.from({ length: 700 }, (_, at) => `w${at}`).join(" "))).toEqual([]);
});

test("words that no document has keep none from being found, however many there are", async () => {
  const base = newBase();
  await write(base, ["The gold plan", "Contact us"]);
  const unheard = Array.from({ length: 40 }, (_, at) => `unheard${at}`).join(" ");
  expect(await find(base, `${unheard} gold ${unheard}`)).toEqual(["The gold plan"]);
});

test("of 5,000 chunks that all have the question's words, those that have all of them are ranked", async () => {
  const base = newBase();
  const texts = Array.from({ length: 5_000 }, (_, at) => (at === 4_321 ? "price delivery" : `price ${at}`));
  await write(base, [...texts, ...texts.map((text) => text.replace("price", "delivery"))]);
  expect((await find(base, "delivery price"))[0]).toBe("price delivery");
  expect(await find(base, "price")).toHaveLength(10);
});

test("a search for a word that every chunk has does not read the table of all owners", async () => {
  const base = newBase();
  await write(
    base,
    Array.from({ length: 1_000 }, (_, at) => `common ${at}`),
  );
  await db`analyze chunk_words`;
  // One connection, whose figures are complete when it asks for them.
  const one = openDatabase({ url: database.urls.knowledge, name: "test", max: 1 });
  const scans = async () => {
    await one`select pg_stat_force_next_flush()`;
    const [row] = await one<{ scans: string }[]>`
      select seq_scan::text as scans from pg_stat_user_tables where relname = 'chunk_words'`;
    return row?.scans;
  };
  const before = await scans();
  const found = await searchWords(one, { ...base, baseIds: [base.baseId], query: "common", limit: 10 });
  expect(found).toHaveLength(10);
  expect(await scans()).toBe(before ?? "missing");
  await one.end();
});

test("scores are between 0 and 1, and higher for a chunk that has more of the question", async () => {
  const base = newBase();
  await write(base, ["gold plan price", "gold", "silver"]);
  const ranked = await searchWords(db, { ...base, baseIds: [base.baseId], query: "gold plan price", limit: 10 });
  expect(ranked.map(({ score }) => score > 0 && score <= 1)).toEqual([true, true]);
  expect(ranked[0]?.score).toBeGreaterThan(ranked[1]?.score ?? 1);
});

test("a corrected document is found by its new words only, and its unchanged chunks keep their ids", async () => {
  const base = newBase();
  const documentId = await write(base, ["Gold costs 29", "Silver costs 19", "Contact us"]);
  const idOf = async (text: string) =>
    (
      await db<{ chunkId: string }[]>`select chunk_id from chunks where owner_id = ${base.ownerId} and text = ${text}`
    )[0]?.chunkId;
  const before = await idOf("Contact us");
  await write(base, ["Contact us", "Gold costs 35"], "en", documentId);
  expect(await find(base, "29")).toEqual([]);
  expect(await find(base, "silver")).toEqual([]);
  expect(await find(base, "35")).toEqual(["Gold costs 35"]);
  expect(await idOf("Contact us")).toBe(before ?? "missing");
});

test("after replacements in another language and deletions, a base's totals are those of the documents that are left", async () => {
  const [base, other] = [newBase(), newBase()];
  const first = await write(base, ["one two three", "two three"], "en");
  const second = await write(base, ["three four"], "en");
  await write(base, ["one two", "drei vier"], "de", first);
  await write(base, ["three four five"], "en", second);
  const third = await write(base, ["six seven"], "fr");
  while ((await db.begin((tx) => deleteChunks(tx, { ...base, documentId: third }))) > 0);
  // The same documents in a base of the same id, so that terms are the same.
  const copy = { ownerId: other.ownerId, baseId: base.baseId };
  await write(copy, ["one two", "drei vier"], "de");
  await write(copy, ["three four five"], "en");
  expect(await totalsOf(base)).toEqual(await totalsOf(copy));
});

test("two documents of a base that are replaced and deleted at once do not wait for each other forever", async () => {
  const base = newBase();
  const texts = (from: number) =>
    Array.from({ length: 30 }, (_, at) => `w${(from + at) % 40} w${(from + 7 * at) % 40} w${at}`);
  const ids = await Promise.all([1, 2, 3, 4].map((from) => write(base, texts(from))));
  await Promise.all([
    ...ids.slice(0, 2).map((id, at) => write(base, texts(at + 9), "en", id)),
    ...ids.slice(2).map((documentId) => db.begin((tx) => deleteChunks(tx, { ...base, documentId }))),
  ]);
  const copy = { ownerId: newId("own"), baseId: base.baseId };
  for (const at of [0, 1]) await write(copy, texts(at + 9));
  expect(await totalsOf(base)).toEqual(await totalsOf(copy));
});
