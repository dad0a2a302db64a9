import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Database } from "@parley/shared/db/database";
import { createTestDatabase, type TestDatabase } from "@parley/shared/testing/database";
import { type Columns, countingHandled, PLANNED } from "@parley/shared/testing/rows-handled";
import { deleteEndedBatches, deleteOldestEnded } from "../src/store/call-batches.ts";
import { deleteEndedSessions } from "../src/store/daily-sessions.ts";
import { deleteIncomingCalls } from "../src/store/incoming-calls.ts";
import { deleteExpiredMediaStreams } from "../src/store/media-streams.ts";
import { deleteEndedCalls, forgetGiven } from "../src/store/outbound-calls.ts";
import { deleteExpiredWebCalls, deleteUnusedWebCalls } from "../src/store/web-calls.ts";

const ROWS = 1_000;
const LIMIT = 300;
const NOW = new Date("2026-01-01");
const ENDED = { status: "'ENDED'", outcome: "'SUCCESS'", ended_at: "at" };

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

interface Case {
  run: (db: Database, before: Date, limit: number, ownerId: string) => Promise<unknown>;
  table: string;
  columns: Columns;
}

const CASES: Case[] = [
  { run: deleteEndedSessions, table: "daily_sessions", columns: ENDED },
  { run: deleteExpiredWebCalls, table: "web_calls", columns: {} },
  { run: deleteUnusedWebCalls, table: "web_calls", columns: {} },
  { run: deleteIncomingCalls, table: "incoming_calls", columns: {} },
  { run: deleteExpiredMediaStreams, table: "media_streams", columns: {} },
  { run: deleteEndedCalls, table: "outbound_calls", columns: ENDED },
  { run: forgetGiven, table: "outbound_calls", columns: { ...ENDED, metadata: `'{"a":1}'` } },
  { run: deleteEndedBatches, table: "call_batches", columns: { status: "'ENDED'", ended_at: "at" } },
  {
    run: async function deleteOldestOfOwner(db, _before, limit, ownerId) {
      await deleteOldestEnded(db, ownerId, { numbersMax: ROWS, batchesMax: ROWS - limit, limit });
      const [{ left }] = await db<
        [{ left: number }]
      >`select count(*) as left from call_batches where owner_id = ${ownerId}`;
      return ROWS - left;
    },
    table: "call_batches",
    columns: { status: "'ENDED'", ended_at: "at" },
  },
];

for (const planned of PLANNED) {
  test.each(CASES.map((each) => ({ ...each, name: each.run.name })))(
    `$name takes its limit in a few passes of its table, although it was planned ${planned}`,
    async ({ run, table, columns }) => {
      const filled = { schema: "voice" as const, tables: { [table]: columns }, rows: ROWS };
      const { result, handled } = await countingHandled(database, filled, planned, (db, ownerId) =>
        run(db, NOW, LIMIT, ownerId),
      );
      expect(result).toBe(LIMIT);
      expect(handled).toBeLessThan(10 * ROWS);
    },
  );
}
