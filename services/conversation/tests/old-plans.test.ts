import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Database } from "@parley/shared/db/database";
import { sweepKeys } from "@parley/shared/idempotency/keys";
import { createTestDatabase, type TestDatabase } from "@parley/shared/testing/database";
import { type Columns, countingHandled, PLANNED } from "@parley/shared/testing/rows-handled";
import { closeSilentCalls, closeSilentChats, closeSilentThreads } from "../src/store/conversations.ts";
import { TURN_KEYS } from "../src/store/turns/turn-keys.ts";

const ROWS = 1_000;
const NOW = new Date("2026-01-01");
const CLOCK = { now: () => NOW };
const open = (type: string) => ({ conversations: { type: `'${type}'`, status: "'IN_PROGRESS'" } });

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
  { name: "closeSilentChats", tables: open("CHAT"), run: (db) => closeSilentChats(db, NOW, NOW, 200), expected: 200 },
  {
    name: "closeSilentThreads",
    tables: open("WHATSAPP"),
    run: (db) => closeSilentThreads(db, NOW, NOW, 200),
    expected: 200,
  },
  {
    name: "closeSilentCalls",
    tables: open("TELEPHONY"),
    run: (db) => closeSilentCalls(db, NOW, "", NOW, 200),
    expected: 200,
  },
  { name: "sweepKeys", tables: { turn_keys: {} }, run: (db) => sweepKeys(db, TURN_KEYS, CLOCK), expected: 50 },
  {
    name: "sweepKeys of an owner",
    tables: { turn_keys: {} },
    run: (db, ownerId) => sweepKeys(db, TURN_KEYS, CLOCK, ownerId),
    expected: 50,
  },
];

for (const planned of PLANNED) {
  test.each(CASES)(
    `$name handles each row a few times, although it was planned ${planned}`,
    async ({ tables, run, expected }) => {
      const filled = { schema: "conversation" as const, tables, rows: ROWS };
      const { result, handled } = await countingHandled(database, filled, planned, run);
      expect(result).toEqual(expected);
      expect(handled).toBeLessThan(10 * ROWS);
    },
  );
}
