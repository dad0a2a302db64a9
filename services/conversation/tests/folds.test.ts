import { afterAll, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { foldChanges } from "@parley/shared/folds/fold";
import { STORED_BYTES_FOLD } from "@parley/shared/stored-bytes/fold";
import { createTestDatabase } from "@parley/testkit/database";
import { newOwner } from "@parley/testkit/owners";
import { countingReads } from "@parley/testkit/statement-cost/reads";
import { COUNTS } from "../src/store/conversation-counts.ts";
import { figuresFold } from "../src/store/figures/fold-figures.ts";

const database = await createTestDatabase();
const db = openDatabase({ url: database.urls.conversation, name: "test" });
afterAll(async () => {
  await db.end();
  await database.drop();
});

const CHANGES = 1_000;

const FOLDS = [
  {
    table: "conversation_changes",
    queue: "fold-conversation-counts",
    insert: (ownerId: string, count: number) => db`
      insert into conversation_changes (owner_id, agent_id, type, calling_type, status, is_test, day, minute, change)
      select ${ownerId}, 'agt_1', 'CHAT', '', 'IN_PROGRESS', false, 20000, 600, 1 from generate_series(1, ${count}::integer)`,
    fold: COUNTS,
  },
  {
    table: "figure_changes",
    queue: "fold-figures",
    insert: (ownerId: string, count: number) => db`
      insert into figure_changes (owner_id, day, agent_id, type, happened_at, begun)
      select ${ownerId}, '2026-01-01', 'agt_1', 'CHAT', '2026-01-01', 1 from generate_series(1, ${count}::integer)`,
    fold: figuresFold(),
  },
  {
    table: "stored_changes",
    queue: "fold-stored-bytes",
    insert: (ownerId: string, count: number) => db`
      insert into stored_changes (owner_id, bytes)
      select ${ownerId}, 500 from generate_series(1, ${count}::integer)`,
    fold: STORED_BYTES_FOLD,
  },
];

test.each(FOLDS)("some hundred changes of $table are folded by a job of their owner", async ({ queue, insert }) => {
  const ownerId = newOwner();
  await insert(ownerId, 256);
  const jobs = await db`select queue from jobs where owner_id = ${ownerId}`;
  expect([...jobs]).toEqual([{ queue }]);
});

test.each(FOLDS)(
  "a fold of $table reads each change a few times, however empty the table was when its statistics were collected",
  async ({ table, insert, fold }) => {
    await insert(newOwner(), 200);
    await db`vacuum (analyze) ${db(table)}`;
    const ownerId = newOwner();
    await insert(ownerId, CHANGES);
    const { result, read } = await countingReads(db, table, (within) => foldChanges(within, ownerId, fold));
    expect(result).toBe(CHANGES);
    expect(read).toBeLessThan(6 * CHANGES);
  },
);
