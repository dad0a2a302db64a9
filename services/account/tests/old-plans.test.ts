import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Database } from "@parley/shared/db/database";
import { createTestDatabase, type TestDatabase } from "@parley/shared/testing/database";
import { type Columns, countingHandled, PLANNED } from "@parley/shared/testing/rows-handled";
import { findTrunkOfNumber } from "../src/store/carriers.ts";
import { deleteUnusedSessions } from "../src/store/sessions.ts";

const ROWS = 1_000;
const NOW = new Date("2026-01-01");

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
    name: "deleteUnusedSessions",
    tables: { owners: { owner_id: "n::text", email: "n::text" }, sessions: { owner_id: "n::text" } },
    run: async (db) => {
      await deleteUnusedSessions(db, NOW);
      const [row] = await db<{ left: number }[]>`select count(*) as left from sessions where last_used_at < ${NOW}`;
      return row?.left;
    },
    expected: ROWS - 10,
  },
  {
    name: "findTrunkOfNumber",
    tables: {
      owners: { owner_id: "n::text", email: "n::text" },
      carriers: { owner_id: "n::text", carrier_id: "'car_' || n", provider: "'SIP'" },
      mobile_numbers: { owner_id: "n::text", mobile_number: "n::text", carrier_id: "'car_' || n" },
    },
    run: async (db) => (await findTrunkOfNumber(db, "500"))?.carrierId,
    expected: "car_500",
  },
];

for (const planned of PLANNED) {
  test.each(CASES)(
    `$name handles each row a few times, although it was planned ${planned}`,
    async ({ tables, run, expected }) => {
      const filled = { schema: "account" as const, tables, rows: ROWS };
      const { result, handled } = await countingHandled(database, filled, planned, run);
      expect(result).toEqual(expected);
      expect(handled).toBeLessThan(10 * ROWS);
    },
  );
}
