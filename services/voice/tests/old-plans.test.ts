import type { Database } from "@parley/shared/db/database";
import { newUuid } from "@parley/shared/ids";
import { deleteOldRows, type OldRows } from "@parley/shared/jobs/old-rows";
import { type Columns, firstTexts } from "@parley/testkit/statement-cost/filled-tables";
import { NOW, ROWS, testOldPlans } from "@parley/testkit/statement-cost/old-plans";
import { deleteOldestEnded, OLD_BATCHES, takeDueEntries } from "../src/store/call-batches.ts";
import { claimLostCalls } from "../src/store/calls.ts";
import { OLD_SESSIONS } from "../src/store/daily-sessions.ts";
import { OLD_INCOMING_CALLS } from "../src/store/incoming-calls.ts";
import { OLD_MEDIA_STREAMS } from "../src/store/media-streams.ts";
import { forgetGiven, OLD_CALLS } from "../src/store/outbound-calls.ts";
import { OLD_PERSON_CALLS } from "../src/store/person-calls.ts";
import { EXPIRED_WEB_CALLS, UNUSED_WEB_CALLS } from "../src/store/web-calls.ts";

const LIMIT = 300;
const NEVER = new Date("2027-01-01");
const [FIRST = ""] = firstTexts(1);
const ENDED = { status: "'ENDED'", outcome: "'SUCCESS'", ended_at: "at" };

/** Deletes old rows as of a time, which their age is counted to. */
const deleting = (rows: OldRows) => (db: Database, before: Date, limit: number) =>
  deleteOldRows(db, { ...rows, keptMs: 0, rows: limit }, before);

interface Case {
  /** That of the function by default. */
  name?: string;
  run: (db: Database, before: Date, limit: number, ownerId: string) => Promise<unknown>;
  table: string;
  columns: Columns;
  /** Other tables that the statement reads, filled first. */
  others?: Record<string, Columns>;
}

const CASES: Case[] = [
  { run: deleting(OLD_SESSIONS), name: "OLD_SESSIONS", table: "daily_sessions", columns: ENDED },
  { run: deleting(EXPIRED_WEB_CALLS), name: "EXPIRED_WEB_CALLS", table: "web_calls", columns: {} },
  { run: deleting(UNUSED_WEB_CALLS), name: "UNUSED_WEB_CALLS", table: "web_calls", columns: {} },
  { run: deleting(OLD_INCOMING_CALLS), name: "OLD_INCOMING_CALLS", table: "incoming_calls", columns: {} },
  { run: deleting(OLD_PERSON_CALLS), name: "OLD_PERSON_CALLS", table: "person_calls", columns: {} },
  { run: deleting(OLD_MEDIA_STREAMS), name: "OLD_MEDIA_STREAMS", table: "media_streams", columns: {} },
  { run: deleting(OLD_CALLS), name: "OLD_CALLS", table: "outbound_calls", columns: ENDED },
  { run: forgetGiven, table: "outbound_calls", columns: { ...ENDED, metadata: `'{"a":1}'` } },
  {
    run: deleting(OLD_BATCHES),
    name: "OLD_BATCHES",
    table: "call_batches",
    columns: { status: "'ENDED'", ended_at: "at" },
  },
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
  CASES.map(({ run, name = run.name, table, columns, others }) => ({
    name,
    tables: { ...others, [table]: columns },
    run: (db, ownerId) => run(db, NOW, LIMIT, ownerId),
    expected: LIMIT,
  })),
);
