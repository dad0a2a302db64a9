import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Database, openDatabase } from "@parley/shared/db/database";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { WRONG_PAGES } from "@parley/testkit/pages";
import { countingReads } from "@parley/testkit/statement-cost/reads";
import fc from "fast-check";
import { listPromptRows } from "../src/store/list-prompts.ts";
import { creation, startTestService, update } from "./harness.ts";

const service = await startTestService();
const client = service.client;

afterAll(() => service.stop());

async function create(ownerId: string, promptName: string, promptContent = "text"): Promise<void> {
  service.clock.advance(1000);
  await client.createPrompt(creation(ownerId, { promptName, promptContent }));
}

async function list(ownerId: string, given: { search?: string; latestOnly?: boolean; page?: [number, number] } = {}) {
  const { search = "", latestOnly = true, page: [number, size] = [1, 100] } = given;
  const { prompts, total } = await client.listPrompts({ ownerId, search, latestOnly, page: { number, size } });
  return { shown: prompts.map((prompt) => `${prompt.promptName}@${prompt.promptVersion}`), total, prompts };
}

describe("order and pages", () => {
  test("lists the newest change first, each prompt once with its latest version", async () => {
    const owner = newOwner();
    await create(owner, "a");
    await create(owner, "b");
    await create(owner, "c");
    await create(owner, "a", "changed");
    const { shown, total, prompts } = await list(owner);
    expect({ shown, total }).toEqual({ shown: ["a@2", "c@1", "b@1"], total: 3 });
    expect(prompts[0]).toMatchObject({ promptContent: "changed", updatedAt: service.clock.now() });
  });

  test("lists every version as an item on request", async () => {
    const owner = newOwner();
    await create(owner, "a");
    await create(owner, "b");
    await create(owner, "a");
    const { shown, total } = await list(owner, { latestOnly: false });
    expect({ shown, total }).toEqual({ shown: ["a@2", "b@1", "a@1"], total: 3 });
  });

  test("prompts with the same time have a fixed order, so that pages neither repeat nor skip one", async () => {
    const owner = newOwner();
    for (const name of ["d", "b", "a", "c"]) await client.createPrompt(creation(owner, { promptName: name }));
    await client.updatePrompt(update(owner, "b", "again"));
    const pages = await Promise.all([1, 2, 3].map((number) => list(owner, { page: [number, 2] })));
    expect(pages.map((page) => page.shown)).toEqual([["a@1", "b@2"], ["c@1", "d@1"], []]);
    expect(pages.map((page) => page.total)).toEqual([4, 4, 4]);
    const versions = await list(owner, { latestOnly: false });
    expect(versions.shown).toEqual(["a@1", "b@2", "b@1", "c@1", "d@1"]);
  });

  test("another owner's prompts are not listed", async () => {
    await create(newOwner(), "theirs");
    expect(await list(newOwner())).toEqual({ shown: [], total: 0, prompts: [] });
  });
});

describe("search", () => {
  test("finds a part of the name or content in any case, also beyond ASCII", async () => {
    const owner = newOwner();
    await create(owner, "Übergabe", "Ask for the ORDER number.");
    await create(owner, "farewell", "Say goodbye.");
    expect((await list(owner, { search: "ÜBERG" })).shown).toEqual(["Übergabe@1"]);
    expect((await list(owner, { search: "the order" })).shown).toEqual(["Übergabe@1"]);
    expect((await list(owner, { search: "by" })).shown).toEqual(["farewell@1"]);
    expect(await list(owner, { search: "nowhere" })).toEqual({ shown: [], total: 0, prompts: [] });
  });

  test("finds a single letter or two in any case, also beyond ASCII", async () => {
    const owner = newOwner();
    await create(owner, "Äther", "XYZ");
    await create(owner, "plain", "ÖL x");
    for (const [search, shown] of [
      ["x", ["plain@1", "Äther@1"]],
      ["Y", ["Äther@1"]],
      ["ä", ["Äther@1"]],
      ["Öl", ["plain@1"]],
      ["yz", ["Äther@1"]],
      ["L", ["plain@1"]],
      ["😀", []],
    ] as const)
      expect((await list(owner, { search })).shown).toEqual([...shown]);
  });

  test("finds a word of an earlier version only without latest_only", async () => {
    const owner = newOwner();
    await create(owner, "a", "old words");
    await create(owner, "a", "new words");
    expect(await list(owner, { search: "old" })).toMatchObject({ shown: [], total: 0 });
    expect(await list(owner, { search: "old", latestOnly: false })).toMatchObject({ shown: ["a@1"], total: 1 });
    expect((await list(owner, { search: "words", latestOnly: false })).shown).toEqual(["a@2", "a@1"]);
  });

  test("finds texts of every length, in the version that has them, and counts them once", async () => {
    const owner = newOwner();
    const long = "lorem ipsum ".repeat(3_000);
    await create(owner, "long", `${long} old needle`);
    await create(owner, "long", `${long} new thread`);
    await create(owner, "grown", "needle");
    await create(owner, "grown", `${long} NEEDLE`);
    await create(owner, "shrunk", `${long} needle`);
    await create(owner, "shrunk", "needle");
    await create(owner, "needle by name", long);
    const latest = ["needle by name@1", "shrunk@2", "grown@2"];
    expect(await list(owner, { search: "needle" })).toMatchObject({ shown: latest, total: 3 });
    const all = ["needle by name@1", "shrunk@2", "shrunk@1", "grown@2", "grown@1", "long@1"];
    expect(await list(owner, { search: "needle", latestOnly: false })).toMatchObject({ shown: all, total: 6 });
    expect((await list(owner, { search: "needle", latestOnly: false, page: [2, 4] })).shown).toEqual(all.slice(4));
    expect(await list(owner, { search: "needle", page: [2, 3] })).toMatchObject({ shown: [], total: 3 });
  });

  test("counts every match in the total, not only those on the page", async () => {
    const owner = newOwner();
    for (const name of ["one", "two", "three"]) await create(owner, name, "same");
    expect(await list(owner, { search: "SAME", page: [2, 2] })).toMatchObject({ shown: ["one@1"], total: 3 });
  });

  test("matches what a plain substring search matches, including wildcards, quotes and backslashes", async () => {
    const letters = fc.string({
      unit: fc.constantFrom("%", "_", "\\", "'", '"', "a", "B", " "),
      minLength: 1,
      maxLength: 6,
    });
    const owner = newOwner();
    const contents = new Set<string>(["100%", "a_b", "aXb", "c:\\a", "%_\\", ...fc.sample(letters, 40)]);
    const names = new Map([...contents].map((content, at) => [`p${at}`, content]));
    for (const [name, content] of names) await create(owner, name, content);
    await fc.assert(
      fc.asyncProperty(letters, async (search) => {
        const wanted = search.toLowerCase();
        const expected = [...names].filter(
          ([name, content]) => name.includes(wanted) || content.toLowerCase().includes(wanted),
        );
        const { prompts, total } = await list(owner, { search });
        expect(new Set(prompts.map((prompt) => prompt.promptName))).toEqual(new Set(expected.map(([name]) => name)));
        expect(total).toBe(expected.length);
      }),
      { numRuns: 40 },
    );
  });

  test("finds nothing for a text that no prompt can contain", async () => {
    const owner = newOwner();
    await create(owner, "a");
    expect(await list(owner, { search: "\0" })).toEqual({ shown: [], total: 0, prompts: [] });
  });
});

describe("an owner with many prompts", () => {
  const many = 2_000;
  /** So that reading a whole table is never cheaper than reading ten rows. */
  const wide = "text ".repeat(200);
  const ownerId = newOwner();
  let db: Database;
  beforeAll(async () => {
    db = openDatabase({ url: service.database.urls.prompt, name: "test" });
    await db`
      insert into prompts (owner_id, prompt_name, prompt_id, prompt_type, latest_version, created_at, updated_at)
      select ${ownerId}, 'name ' || number, ${wide}, 'main', 1, now(), now() from generate_series(1, ${many}::integer) as number`;
    await db`
      insert into prompt_versions (owner_id, prompt_name, prompt_version, content, created_at)
      select ${ownerId}, 'name ' || number, 1, ${wide}, now() from generate_series(1, ${many}::integer) as number`;
    for (const table of ["prompts", "prompt_versions"]) await db`analyze ${db(table)}`;
  });
  afterAll(() => db.end());

  /** A page of ten, and how much of a table was read for it. */
  async function read(table: string, filter: { search: string; latestOnly: boolean }, number: number) {
    const { result, read } = await countingReads(db, table, (within) =>
      listPromptRows(within, { ownerId, ...filter }, { number, size: 10 }),
    );
    expect([result.rows.length, result.total]).toEqual([10, many]);
    return read;
  }

  test.each([true, false])(
    "a search reads each text once, and those of its page again (latest only: %p)",
    async (latestOnly) => {
      expect(await read("prompt_versions", { search: "e", latestOnly }, 1)).toBeLessThan(1.5 * many);
    },
  );

  test("a deep page of the list reads no texts of the pages before, and one of versions no prompts", async () => {
    expect(await read("prompt_versions", { search: "", latestOnly: true }, many / 10)).toBeLessThan(100);
    expect(await read("prompts", { search: "", latestOnly: false }, many / 10)).toBeLessThan(100);
  });
});

test.each(WRONG_PAGES)(
  "a list of prompts refuses page $page.number of size $page.size and names the field",
  async ({ page, field }) => {
    expect(await failure(list(newOwner(), { page: [page.number, page.size] }))).toMatchObject({
      kind: "invalid",
      paths: [field],
    });
  },
);
