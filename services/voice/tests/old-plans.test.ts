import type { Database } from "@parley/shared/db/database";
import { newUuid } from "@parley/shared/ids";
import { type Columns, firstTexts } from "@parley/testkit/statement-cost/filled-tables";
import { NOW, ROWS, testOldPlans } from "@parley/testkit/statement-cost/old-plans";
import { deleteEndedBatches, deleteOldestEnded, takeDueEntries } from "../src/store/call-batches.ts";
import { claimLostCalls } from "../src/store/calls.ts";
import { deleteEndedSessions } from "../src/store/daily-sessions.ts";
import { deleteIncomingCalls } from "../src/store/incoming-calls.ts";
import { deleteExpiredMediaStreams } from "../src/store/media-streams.ts";
import { deleteEndedCalls, forgetGiven } from "../src/store/outbound-calls.ts";
import { deletePersonCalls } from "../src/store/person-calls.ts";
import { deleteExpiredWebCalls, deleteUnusedWebCalls } from "../src/store/web-calls.ts";

const LIMIT = 300;
const NEVER = new Date("2027-01-01");
const [FIRST = ""] = firstTexts(1);
const ENDED = { status: "'ENDED'", outcome: "'SUCCESS'", ended_at: "at" };

interface Case {
  run: (db: Database, before: Date, limit: number, ownerId: string) => Promise<unknown>;
  table: string;
  columns: Columns;
  /** Other tables that the statement reads, filled first. */
  others?: Record<string, Columns>;
}

const CASES: Case[] = [
  { run: deleteEndedSessions, table: "daily_sessions", columns: ENDED },
  { run: deleteExpiredWebCalls, table: "web_calls", columns: {} },
  { run: deleteUnusedWebCalls, table: "web_calls", columns: {} },
  { run: deleteIncomingCalls, table: "incoming_calls", columns: {} },
  { run: deletePersonCalls, table: "person_calls", columns: {} },
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
  {
    run: async function claimLost(db, before, limit) {
      return (await claimLostCalls(db, { processId: newUuid(), now: before, until: NEVER, limit })).length;
    },
    table: "calls",
    columns: {},
  },
  {
    run: async function takeDue(db, now, limit, ownerId) {
      const due = { now, limit };
      return (await db.begin((tx) => takeDueEntries(tx, { ownerId, batchId: FIRST }, due))).length;
    },
    others: { call_batches: {}, do_not_call: { mobile_number: "(2 * n)::text" } },
    table: "batch_calls",
    // All of the owner's numbers are in its first batch, and every other one is denied.
    columns: { batch_id: `least(lpad(n::text, 8, '0'), '${FIRST}')`, number: "n", to_mobile_number: "n::text" },
  },
];

testOldPlans(
  "voice",
  CASES.map(({ run, table, columns, others }) => ({
    name: run.name,
    tables: { ...others, [table]: columns },
    run: (db, ownerId) => run(db, NOW, LIMIT, ownerId),
    expected: LIMIT,
  })),
);
