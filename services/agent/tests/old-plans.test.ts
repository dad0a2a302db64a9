import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Database } from "@parley/shared/db/database";
import { deleteOwnedRows } from "@parley/shared/db/owned-rows";
import { newId } from "@parley/shared/ids";
import { createTestDatabase, type TestDatabase } from "@parley/shared/testing/database";
import { type Columns, countingHandled, PLANNED } from "@parley/shared/testing/rows-handled";
import { deleteExpiredDrafts, insertDraft } from "../src/store/drafts.ts";

const ROWS = 1_000;
const NOW = new Date("2026-01-01");
const DRAFTS = { agent_drafts: { bytes: "100" } };

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
    name: "insertDraft",
    tables: DRAFTS,
    run: async (db, ownerId) => {
      const key = { ownerId, agentId: "agt_1", draftId: newId("drf") };
      const draft = { row: {}, prompt: undefined, analysisPrompt: undefined } as Parameters<typeof insertDraft>[2];
      await insertDraft(db, key, draft, { now: NOW, expiresAt: NOW, bytesMax: 70_050 });
      const [row] = await db<{ kept: number }[]>`
        select count(*) as kept from agent_drafts where owner_id = ${ownerId} and expires_at < ${NOW}`;
      return row?.kept;
    },
    expected: 700,
  },
  { name: "deleteExpiredDrafts", tables: DRAFTS, run: (db) => deleteExpiredDrafts(db, NOW, 300), expected: 300 },
];

for (const planned of PLANNED) {
  test.each(CASES)(
    `$name handles each row a few times, although it was planned ${planned}`,
    async ({ tables, run, expected }) => {
      const filled = { schema: "agent" as const, tables, rows: ROWS };
      const { result, handled } = await countingHandled(database, filled, planned, run);
      expect(result).toEqual(expected);
      expect(handled).toBeLessThan(10 * ROWS);
    },
  );
}

test("deleting a part of an owner's rows reads no others, although Postgres knows of none", async () => {
  const filled = { schema: "agent" as const, tables: { idempotency_keys: {} }, rows: 5 * ROWS };
  const { result, handled } = await countingHandled(database, filled, "for rows of others", (db, ownerId) =>
    deleteOwnedRows(db, { name: "idempotency_keys", key: ["idempotency_key"], rows: 10 }, ownerId),
  );
  expect(result).toBe(10);
  expect(handled).toBeLessThan(100);
});
