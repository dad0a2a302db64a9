import type { Database } from "@parley/shared/db/database";
import { NOW, ROWS, type Statement, testOldPlans } from "@parley/testkit/statement-cost/old-plans";
import { listPromptRows } from "../src/store/list-prompts.ts";
import { deleteGoneRevisions } from "../src/store/references.ts";

const PROMPTS = {
  prompts: { prompt_type: "'main'" },
  prompt_versions: { content: "'some words of ' || n" },
};

const STATEMENTS: Statement[] = [
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
  ...["", "word", "o"].flatMap((search) =>
    [true, false].map((latestOnly) => ({
      name: `a page of ${latestOnly ? "the latest" : "all"} versions, of those with "${search}",`,
      tables: PROMPTS,
      run: async (db: Database, ownerId: string) => {
        const filter = { ownerId, search, latestOnly };
        const { rows, total } = await listPromptRows(db, filter, { number: 1, size: 100 });
        return [rows.length, total];
      },
      expected: [100, ROWS],
      handledMax: 20 * ROWS,
    })),
  ),
];

testOldPlans("prompt", STATEMENTS);
