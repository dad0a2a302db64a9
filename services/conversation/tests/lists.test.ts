import { afterAll, expect, test } from "bun:test";
import { foldChanges } from "@parley/shared/folds/fold";
import { newUuid } from "@parley/shared/ids";
import { newOwner } from "@parley/testkit/owners";
import fc from "fast-check";
import { COUNTS } from "../src/store/conversation-counts.ts";
import {
  AGENTS,
  type Asked,
  CALLING_TYPES,
  expected,
  insert,
  request,
  STATUSES,
  type Stored,
  startTestLists,
  stored,
  TYPES,
} from "./lists-kit.ts";

const DAY_MS = 86_400_000;
const FIRST = Date.parse("2026-01-01T00:00:00Z");
const DAYS = 150;

const lists = await startTestLists();
afterAll(() => lists.stop());

/** Close to the ends of minutes, days and spans of days, where a count could be off by one. */
const moment = fc
  .tuple(
    fc.oneof(fc.integer({ min: 0, max: DAYS }), fc.constantFrom(6, 7, 8, 62, 63, 64, 65)),
    fc.oneof(fc.integer({ min: 0, max: 1439 }), fc.constantFrom(0, 1, 599, 600, 601, 1438, 1439)),
    fc.constantFrom(0, 1, 30_000, 59_999),
  )
  .map(([day, minute, ms]) => new Date(FIRST + day * DAY_MS + minute * 60_000 + ms));
const minute = fc.oneof(fc.integer({ min: 0, max: 1439 }), fc.constantFrom(0, 1, 599, 600, 601, 1438, 1439));
const kind = {
  agentId: fc.constantFrom(...AGENTS),
  type: fc.constantFrom(...TYPES),
  status: fc.constantFrom(...STATUSES),
  isTest: fc.boolean(),
};
const conversation = fc.record({
  ...kind,
  agentVersion: fc.constantFrom(null, 1, 2),
  callingType: fc.constantFrom(null, ...CALLING_TYPES),
  createdAt: moment,
  messages: fc.array(fc.constantFrom("Where is my Order?", "100% sure", "a_b", "Grüße", "back\\slash", "no"), {
    maxLength: 2,
  }),
  metadata: fc.constantFrom({}, { plan: "gold" }, { nested: { deep: ["Order 77"] } }, { said: 'a "quoted" word' }),
});
const asked: fc.Arbitrary<Asked> = fc
  .record(
    {
      ...kind,
      agentVersion: fc.constantFrom(1, 2),
      callingType: fc.constantFrom(...CALLING_TYPES),
      from: moment,
      to: moment,
      timeOfDay: fc.record({ fromMinute: minute, toMinute: minute }),
    },
    { requiredKeys: [] },
  )
  .map(({ agentVersion, ...filter }) => ({ ...filter, ...(filter.agentId && agentVersion && { agentVersion }) }));
const paged = fc.record({ number: fc.constantFrom(1, 1, 2, 3, 9), size: fc.constantFrom(1, 3, 10, 100) });

async function check(all: readonly Stored[], ownerId: string, filter: Asked, page: { number: number; size: number }) {
  const answer = await lists.lists.listConversations(request(ownerId, filter, page));
  const ids = expected(all, ownerId, filter);
  const offset = (page.number - 1) * page.size;
  expect({ total: answer.total, ids: answer.conversations.map((found) => found.conversationId) }).toEqual({
    total: ids.length,
    ids: ids.slice(offset, offset + page.size),
  });
}

test("any combination of filters gives the same page and total as a full scan, folded or not", async () => {
  const ownerId = newOwner();
  const random = (count: number, seed: number) =>
    fc.sample(conversation, { numRuns: count, seed }).map((fields) => stored({ ...fields, ownerId }));
  const all = random(300, 1);
  await insert(lists.db, all);
  await foldChanges(lists.db, ownerId, COUNTS);
  const more = random(150, 2);
  await insert(lists.db, more);
  all.push(...more);
  // Some change their status and some are deleted after they were counted.
  for (const row of all.filter((_, at) => at % 5 === 0)) {
    if (row.status === "IN_PROGRESS") row.status = "FAILED";
    else row.callingType = row.callingType === "INBOUND" ? "OUTBOUND" : "INBOUND";
    await lists.db`
        update conversations set status = ${row.status}, calling_type = ${row.callingType}
        where owner_id = ${ownerId} and conversation_id = ${row.conversationId}`;
  }
  for (const row of all.splice(0, 20)) {
    await lists.db`delete from conversations where owner_id = ${ownerId} and conversation_id = ${row.conversationId}`;
  }
  const property = fc.asyncProperty(asked, paged, (filter, page) => check(all, ownerId, filter, page));
  await fc.assert(property, { numRuns: 150 });
  await foldChanges(lists.db, ownerId, COUNTS);
  await fc.assert(property, { numRuns: 75 });
});

test("the pages of a list together contain each conversation once", async () => {
  const ownerId = newOwner();
  const all = fc.sample(conversation, { numRuns: 90, seed: 3 }).map((fields) => stored({ ...fields, ownerId }));
  await insert(lists.db, all);
  const ids: string[] = [];
  for (let number = 1; number <= 13; number++) {
    const { conversations } = await lists.lists.listConversations(request(ownerId, {}, { number, size: 7 }));
    ids.push(...conversations.map((found) => found.conversationId));
  }
  expect(ids).toEqual(expected(all, ownerId, {}));
});

test("from and to hold to the microsecond", async () => {
  const ownerId = newOwner();
  const row = stored({ ownerId });
  await insert(lists.db, [row]);
  await lists.db`
    update conversations set created_at = '2026-03-01T10:00:30.000400Z' where conversation_id = ${row.conversationId}`;
  const total = async (filter: Asked) => (await lists.lists.listConversations(request(ownerId, filter))).total;
  expect(await total({ to: new Date("2026-03-01T10:00:30.000Z") })).toBe(0);
  expect(await total({ to: new Date("2026-03-01T10:00:30.001Z") })).toBe(1);
  expect(await total({ from: new Date("2026-03-01T10:00:30.000Z") })).toBe(1);
  expect(await total({ from: new Date("2026-03-01T10:00:30.001Z") })).toBe(0);
});

test("deleted conversations leave no count behind, not even the last of their kind", async () => {
  const ownerId = newOwner();
  await insert(lists.db, [stored({ ownerId }), stored({ ownerId, status: "FAILED" })]);
  await foldChanges(lists.db, ownerId, COUNTS);
  await lists.db`delete from conversations where owner_id = ${ownerId}`;
  await foldChanges(lists.db, ownerId, COUNTS);
  expect(await lists.db`select 1 from conversation_counts where owner_id = ${ownerId}`).toHaveLength(0);
  await check([], ownerId, {}, { number: 1, size: 10 });
});

test("chat sessions are listed newest first with their total, other channels are not", async () => {
  const ownerId = newOwner();
  const all = fc.sample(conversation, { numRuns: 60, seed: 4 }).map((fields) => stored({ ...fields, ownerId }));
  await insert(lists.db, all);
  const { sessions, total } = await lists.lists.listChatSessions({
    ownerId,
    agentId: "",
    page: { number: 2, size: 5 },
  });
  const chats = expected(all, ownerId, { type: "CHAT" });
  expect(total).toBe(chats.length);
  expect(sessions.map((session) => session.sessionId)).toEqual(chats.slice(5, 10));
});

test("a search finds any substring of a message or given value in any letter case, and takes wildcards literally", async () => {
  const ownerId = newOwner();
  const all = fc.sample(conversation, { numRuns: 60, seed: 5 }).map((fields) => stored({ ...fields, ownerId }));
  const foreign = stored({ ownerId: newOwner(), messages: ["Where is my Order?"] });
  all.push(
    foreign,
    stored({ ownerId, type: "TELEPHONY", toMobileNumber: "+14155550123", variables: { tier: "Platinum" } }),
  );
  await insert(lists.db, all);
  const texts = [
    "ORDER",
    "order 77",
    "%",
    "_",
    "a_b",
    "\\",
    "a%b",
    "grüSSe",
    "GRÜßE",
    "0%",
    "o",
    "is my",
    '"quoted"',
    "5550123",
    "platin",
    "nothing",
  ];
  for (const search of texts) {
    await check(all, ownerId, { search }, { number: 1, size: 10 });
    await check(
      all,
      ownerId,
      { search, status: "COMPLETED", from: new Date(FIRST + 30 * DAY_MS) },
      { number: 1, size: 3 },
    );
    await check(all, ownerId, { search, agentId: "agt_a", agentVersion: 2 }, { number: 1, size: 10 });
    for (const isTest of [true, false]) await check(all, ownerId, { search, isTest }, { number: 1, size: 10 });
  }
});

test("metadata field names, types, statuses and timestamps are not searched", async () => {
  const ownerId = newOwner();
  await insert(lists.db, [stored({ ownerId, metadata: { plan: "gold" } })]);
  for (const search of ["plan", "completed", "chat", "2026"])
    await check([], ownerId, { search }, { number: 1, size: 10 });
});

test("a conversation id finds only that conversation, and only if it matches the other filters", async () => {
  const ownerId = newOwner();
  const row = stored({ ownerId, messages: ["Hello there"] });
  await insert(lists.db, [row, stored({ ownerId, messages: ["Hello there"] })]);
  const totals = [{}, { search: "hello" }, { status: "FAILED" as const }, { search: "bye" }].map(async (filter) => {
    const wanted = { ...request(ownerId, filter), conversationId: row.conversationId };
    return (await lists.lists.listConversations(wanted)).total;
  });
  expect(await Promise.all(totals)).toEqual([1, 1, 0, 0]);
  const unknown = { ...request(ownerId, {}), conversationId: newUuid() };
  expect((await lists.lists.listConversations(unknown)).total).toBe(0);
});
