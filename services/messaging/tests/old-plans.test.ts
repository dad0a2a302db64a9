import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Database } from "@parley/shared/db/database";
import { createTestDatabase, type TestDatabase } from "@parley/shared/testing/database";
import { type Columns, countingHandled, firstTexts, PLANNED } from "@parley/shared/testing/rows-handled";
import { deleteOldIncoming } from "../src/store/incoming.ts";
import { deleteOldDays } from "../src/store/message-days.ts";
import { deleteOldOutgoing, storeStatuses } from "../src/store/outgoing.ts";
import { deleteSilentThreads } from "../src/store/threads.ts";

const ROWS = 1_000;
const NOW = new Date("2026-01-01");
const SENT = { state: "'sent'", delivery: "'sent'", carrier_id: "'car_1'", wamid: "lpad(n::text, 8, '0')" };
const READ = firstTexts(300).map((wamid) => ({ wamid, messageId: null, status: "read" as const, errorCode: null }));

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
    name: "deleteSilentThreads",
    tables: { threads: {} },
    run: (db) => deleteSilentThreads(db, NOW, 300),
    expected: 300,
  },
  {
    name: "deleteOldOutgoing",
    tables: { outgoing_messages: SENT },
    run: (db) => deleteOldOutgoing(db, NOW, 300),
    expected: 300,
  },
  {
    name: "deleteOldIncoming",
    tables: { incoming_messages: {} },
    run: (db) => deleteOldIncoming(db, NOW, 300),
    expected: 300,
  },
  {
    name: "deleteOldDays",
    tables: { whatsapp_days: {} },
    run: (db) => deleteOldDays(db, "whatsapp_days", NOW, 300),
    expected: 300,
  },
  {
    name: "storeStatuses",
    tables: { outgoing_messages: SENT },
    run: (db, ownerId) =>
      db.begin(async (tx) => (await storeStatuses(tx, { ownerId, carrierId: "car_1" }, READ)).length),
    expected: 300,
  },
];

for (const planned of PLANNED) {
  test.each(CASES)(
    `$name handles each row a few times, although it was planned ${planned}`,
    async ({ tables, run, expected }) => {
      const filled = { schema: "messaging" as const, tables, rows: ROWS };
      const { result, handled } = await countingHandled(database, filled, planned, run);
      expect(result).toEqual(expected);
      expect(handled).toBeLessThan(10 * ROWS);
    },
  );
}
