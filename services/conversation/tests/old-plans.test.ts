import { connectPostgres } from "@parley/shared/db/connect";
import { oldKeys } from "@parley/shared/idempotency/keys";
import { deleteOldRows } from "@parley/shared/jobs/old-rows";
import { finishJobs } from "@parley/shared/jobs/store";
import { firstTexts } from "@parley/testkit/statement-cost/filled-tables";
import { NOW, ROWS, type Statement, testOldPlans } from "@parley/testkit/statement-cost/old-plans";
import { closeSilentCalls, closeSilentChats, closeSilentThreads } from "../src/store/conversations.ts";
import { NO_FILTER } from "../src/store/lists/conversation-filter.ts";
import { findCountedPage } from "../src/store/lists/list-page.ts";
import { lockIndex } from "../src/store/search/lock-index.ts";
import { numberEnded, numberSilent } from "../src/store/search/number-conversations.ts";
import { insertPart } from "../src/store/search/terms.ts";
import { TURN_KEYS } from "../src/store/turns/turn-keys.ts";

const open = (type: string) => ({ conversations: { type: `'${type}'`, status: "'IN_PROGRESS'" } });

const said = { messages: { seq: "1", role: "'user'", content: "'text'" } };
/** Of conversations that have no rows. */
const otherId = "lpad(to_hex(1000000 + n), 32, '0')::uuid";
const numberedOthers = { search_documents: { number: "-n", conversation_id: otherId } };

const STATEMENTS: Statement[] = [
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
  {
    name: "oldKeys",
    tables: { turn_keys: {} },
    run: (db) => deleteOldRows(db, oldKeys(TURN_KEYS), NOW),
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
    handledMax: 40 * ROWS,
    // A plan for empty tables has no reason to use an index.
    planned: ["for rows of others"],
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
    handledMax: 60 * ROWS,
  },
  {
    name: "numberSilent",
    tables: { ...open("CHAT"), search_waiting: {}, search_open: { number: "-n" }, ...said, ...numberedOthers },
    run: (db, ownerId) => numberSilent(db, ownerId, NOW),
    expected: true,
    handledMax: 80 * ROWS,
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
    handledMax: 20 * ROWS,
  },
];

testOldPlans("conversation", STATEMENTS, async ({ adminUrl }) => {
  const admin = connectPostgres(adminUrl, { max: 1 });
  // The statements' tables are filled as they say.
  await admin`alter table conversation.conversations disable trigger conversations_await_search_index`;
  await admin.end();
});
