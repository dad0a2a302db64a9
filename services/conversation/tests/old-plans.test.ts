import { afterAll, beforeAll, expect, test } from "bun:test";
import { connectPostgres } from "@parley/shared/db/connect";
import type { Database } from "@parley/shared/db/database";
import { sweepKeys } from "@parley/shared/idempotency/keys";
import { finishJobs } from "@parley/shared/jobs/store";
import { createTestDatabase, type TestDatabase } from "@parley/shared/testing/database";
import { type Columns, countingHandled, firstTexts, PLANNED } from "@parley/shared/testing/rows-handled";
import { NO_FILTER } from "../src/store/conversation-filter.ts";
import { closeSilentCalls, closeSilentChats, closeSilentThreads } from "../src/store/conversations.ts";
import { findCountedPage } from "../src/store/list-page.ts";
import { lockIndex } from "../src/store/search/lock-index.ts";
import { numberEnded, numberSilent } from "../src/store/search/number-conversations.ts";
import { insertPart } from "../src/store/search/terms.ts";
import { TURN_KEYS } from "../src/store/turns/turn-keys.ts";

const ROWS = 1_000;
const NOW = new Date("2026-01-01");
const CLOCK = { now: () => NOW };
const open = (type: string) => ({ conversations: { type: `'${type}'`, status: "'IN_PROGRESS'" } });

const said = { messages: { seq: "1", role: "'user'", content: "'text'" } };
/** Of conversations that have no rows. */
const otherId = "lpad(to_hex(1000000 + n), 32, '0')::uuid";
const numberedOthers = { search_documents: { number: "-n", conversation_id: otherId } };

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  const admin = connectPostgres(database.adminUrl, { max: 1 });
  // The cases fill its table themselves.
  await admin`alter table conversation.conversations disable trigger conversations_await_search_index`;
  await admin.end();
});
afterAll(() => database.drop());

interface Case {
  name: string;
  tables: Record<string, Columns>;
  run: (db: Database, ownerId: string) => Promise<unknown>;
  expected: unknown;
  /** How many times each row is handled, at most; 10 by default. Statements of many parts hand each row from part to part. */
  timesMax?: number;
  /** The only plans that it is run with. A plan for empty tables has no reason to use an index. */
  only?: (typeof PLANNED)[number];
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
  {
    name: "finishJobs",
    tables: { jobs: { queue: "'queue'", lease: "1", attempts: "1", leased_until: "at" } },
    run: async (db, ownerId) => {
      const run = { ownerId, queue: "queue", payload: {}, attempts: 1, lease: 1, traceparent: null };
      await finishJobs(
        db,
        firstTexts(256).map((jobId) => ({ ...run, jobId })),
      );
      const [row] = await db<{ left: number }[]>`
        select count(*)::integer as left from jobs where owner_id = ${ownerId}`;
      return row?.left;
    },
    expected: ROWS - 256,
  },
  {
    name: "findCountedPage",
    tables: { conversations: { ...open("CHAT").conversations, created_at: "at + n * interval '1 minute'" } },
    run: async (db, ownerId) =>
      (await findCountedPage(db, { ...NO_FILTER, ownerId }, { number: 1, size: 100 })).conversationIds.length,
    expected: 100,
    timesMax: 40,
    only: "for rows of others",
  },
  {
    name: "numberEnded",
    tables: {
      conversations: { type: "'CHAT'", status: "'COMPLETED'" },
      search_waiting: {},
      ...said,
      ...numberedOthers,
    },
    run: numberEnded,
    expected: true,
    timesMax: 60,
  },
  {
    name: "numberSilent",
    tables: { ...open("CHAT"), search_waiting: {}, search_open: { number: "-n" }, ...said, ...numberedOthers },
    run: (db, ownerId) => numberSilent(db, ownerId, NOW),
    expected: true,
    timesMax: 80,
  },
  {
    name: "insertPart",
    tables: {
      ...open("CHAT"),
      search_documents: { number: "n - 6", text: "'text'" },
      search_open: { number: "n - 6" },
      search_parts: { part: "-n" },
    },
    run: (db, ownerId) =>
      db.begin(async (tx) => {
        await lockIndex(tx, ownerId);
        await insertPart(tx, ownerId, 0);
        const [row] = await tx<{ parts: number }[]>`
          select count(*)::integer as parts from search_parts where owner_id = ${ownerId} and part = 0`;
        return row?.parts;
      }),
    expected: 1,
    timesMax: 20,
  },
];

for (const planned of PLANNED) {
  test.each(CASES.filter(({ only = planned }) => only === planned))(
    `$name handles each row a few times, although it was planned ${planned}`,
    async ({ tables, run, expected, timesMax = 10 }) => {
      const filled = { schema: "conversation" as const, tables, rows: ROWS };
      const { result, handled } = await countingHandled(database, filled, planned, run);
      expect(result).toEqual(expected);
      expect(handled).toBeLessThan(timesMax * ROWS);
    },
  );
}
