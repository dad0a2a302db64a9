import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Database } from "@parley/shared/db/database";
import { createTestDatabase, type TestDatabase } from "@parley/shared/testing/database";
import { type Columns, countingHandled, PLANNED } from "@parley/shared/testing/rows-handled";
import { listPromptRows } from "../src/store/list-prompts.ts";
import { deleteGoneRevisions } from "../src/store/references.ts";

const ROWS = 1_000;
const NOW = new Date("2026-01-01");
const PROMPTS = {
  prompts: { prompt_type: "'main'" },
  prompt_versions: { content: "'some words of ' || n" },
};

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

interface Case {
  name: string;
  tables: Record<string, Columns>;
  run: (db: Database, ownerId: string) => Promise<unknown>;
  expected: unknown;
}

const CASES: Case[] = [
  {
    name: "deleteGoneRevisions",
    tables: { reference_revisions: { gone_at: "at" } },
    run: async (db) => {
      await deleteGoneRevisions(db, NOW);
      const [row] = await db<{ left: number }[]>`
        select count(*) as left from reference_revisions where gone_at < ${NOW}`;
      return row?.left;
    },
    expected: ROWS - 10,
  },
  ...["word", "o"].flatMap((search) =>
    [true, false].map((latestOnly) => ({
      name: `a search of ${latestOnly ? "the latest versions" : "all versions"} for ${search}`,
      tables: PROMPTS,
      run: async (db: Database, ownerId: string) => {
        const filter = { ownerId, search, latestOnly };
        const { rows, total } = await listPromptRows(db, filter, { number: 1, size: 100 }, { bytes: 2 ** 30, used: 0 });
        return [rows.length, total];
      },
      expected: [100, ROWS],
    })),
  ),
];

for (const planned of PLANNED) {
  test.each(CASES)(
    `$name handles each row a few times, although it was planned ${planned}`,
    async ({ tables, run, expected }) => {
      const filled = { schema: "prompt" as const, tables, rows: ROWS };
      const { result, handled } = await countingHandled(database, filled, planned, run);
      expect(result).toEqual(expected);
      expect(handled).toBeLessThan(20 * ROWS);
    },
  );
}
