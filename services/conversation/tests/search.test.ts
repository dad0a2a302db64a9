import { afterAll, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import fc from "fast-check";
import { goneConversations } from "../src/search/tidy.ts";
import { indexNextPart, indexStatuses, rebuildBlock } from "../src/store/search/build-index.ts";
import { numberEnded, numberSilent } from "../src/store/search/number-conversations.ts";
import { PART } from "../src/store/search/number-set.ts";
import { mergeBlock } from "../src/store/search/terms.ts";
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

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const FIRST = Date.parse("2026-01-01T00:00:00Z");

const lists = await startTestLists();
afterAll(() => lists.stop());

const WORDS = [
  '"q"',
  "Order",
  "orders",
  "Grüße",
  "STRASSE",
  "straße",
  "a",
  "B2",
  "100%",
  "a_b",
  "back\\slash",
  "😀",
  "中文字",
  "no-one",
  "“ok”",
];
const said = fc
  .array(fc.tuple(fc.constantFrom(...WORDS), fc.constantFrom(" ", " ", " ", "  ", "\n", ", ", "")), { maxLength: 5 })
  .map((words) => words.flat().join(""));
const given = fc.constantFrom({}, {}, { plan: "Gold" }, { nested: { deep: ["Order 77", true, 4.5] } });
const conversation = fc.record({
  agentId: fc.constantFrom(...AGENTS),
  type: fc.constantFrom(...TYPES),
  callingType: fc.constantFrom(null, ...CALLING_TYPES),
  // Some stay in progress.
  status: fc.constantFrom("COMPLETED", "COMPLETED", "FAILED", "DISCONNECTED", "COMPLETED", ...STATUSES),
  isTest: fc.constantFrom(false, false, true),
  // Several begin at the same moment, over the minutes of some days.
  createdAt: fc.nat(2_500).map((at) => new Date(FIRST + at * 7 * MINUTE_MS)),
  messages: fc.array(said, { maxLength: 3 }),
  metadata: given,
  variables: fc.constantFrom({}, {}, { customer: "C-1001" }),
  toMobileNumber: fc.constantFrom(null, null, "+14155550123"),
  roomUrl: fc.constantFrom(null, null, "https://acme.daily.co/front-desk"),
  roomName: fc.constantFrom(null, null, "Front desk"),
});
const moment = fc.nat(2_500).map((at) => new Date(FIRST + at * 7 * MINUTE_MS));
const minute = fc.nat(1_439);
const filters = {
  agentId: fc.constantFrom(...AGENTS),
  type: fc.constantFrom(...TYPES),
  callingType: fc.constantFrom(...CALLING_TYPES),
  status: fc.constantFrom(...STATUSES),
  isTest: fc.boolean(),
  from: moment,
  to: moment,
  timeOfDay: fc.record({ fromMinute: minute, toMinute: minute }),
};
/** None, one or two filters: with more, hardly anything is found. */
const filter: fc.Arbitrary<Asked> = fc
  .tuple(fc.record(filters), fc.subarray(Object.keys(filters) as (keyof typeof filters)[], { maxLength: 2 }))
  .map(([all, kept]) => Object.fromEntries(kept.map((key) => [key, all[key]])));
/** Parts of the texts: one or two characters, within words and across them, and texts that nobody says. */
const searched = fc.oneof(
  fc.tuple(said, fc.nat(), fc.integer({ min: 1, max: 12 })).map(([text, at, length]) => {
    const characters = [...text];
    return (
      characters
        .slice(at % Math.max(1, characters.length))
        .slice(0, length)
        .join("") || "order"
    );
  }),
  fc.constantFrom(
    "ORDER",
    "gold",
    "er 77",
    "true",
    "4.5",
    "C-10",
    "5550",
    "+1",
    "ont des",
    "daily.co/",
    "plan",
    "%",
    "_",
    "\\",
    " ",
    "   ",
    "xylograph",
  ),
);
const paged = fc.record({ number: fc.constantFrom(1, 1, 2, 5, 90), size: fc.constantFrom(1, 10, 100) });

async function check(all: readonly Stored[], ownerId: string, asked: Asked, page: { number: number; size: number }) {
  const answer = await lists.lists.listConversations(request(ownerId, asked, page));
  const ids = expected(all, ownerId, asked);
  const offset = (page.number - 1) * page.size;
  expect({ asked, page, total: answer.total, ids: answer.conversations.map((found) => found.conversationId) }).toEqual({
    asked,
    page,
    total: ids.length,
    ids: ids.slice(offset, offset + page.size),
  });
}

async function indexAll(ownerId: string): Promise<void> {
  await numberEnded(lists.db, ownerId);
  await numberSilent(lists.db, ownerId, LATER);
  await indexStatuses(lists.db, ownerId);
  while (await indexNextPart(lists.db, ownerId));
}

/** Later than the last message of every conversation of these tests. */
const LATER = new Date(FIRST + 1_000 * HOUR_MS);

/** As a turn does. */
async function say({ ownerId, conversationId, messages }: Stored, content: string): Promise<void> {
  messages.push(content);
  await lists.db`
    with taken as (
      update conversations set message_count = message_count + 1, turn_id = gen_random_uuid(), last_activity_at = ${LATER}
      where owner_id = ${ownerId} and conversation_id = ${conversationId} returning message_count
    )
    insert into messages (owner_id, conversation_id, seq, role, content, created_at)
    select ${ownerId}, ${conversationId}, message_count, 'user', ${content}, ${LATER} from taken`;
}

async function end(row: Stored, status: Stored["status"]): Promise<void> {
  row.status = status;
  await lists.db`
    update conversations set status = ${status}
    where owner_id = ${row.ownerId} and conversation_id = ${row.conversationId}`;
}

async function waitingOf(ownerId: string): Promise<number> {
  return (await lists.db`select 1 from search_waiting where owner_id = ${ownerId}`).length;
}

const sampled = (ownerId: string, count: number, seed: number) =>
  fc.sample(conversation, { numRuns: count, seed }).map((fields) => stored({ ...fields, ownerId }));

test("searches with any filters give the page and total that reading every conversation gives: indexed, merged, deleted, rebuilt", async () => {
  const ownerId = newOwner();
  const all = sampled(ownerId, Math.floor(2.1 * PART), 1);
  const foreign = sampled(newOwner(), 50, 2);
  await insert(lists.db, [...all, ...foreign]);
  const property = fc.asyncProperty(searched, filter, paged, (search, asked, page) =>
    check(all, ownerId, { ...asked, search }, page),
  );
  const compare = (numRuns = 12) => fc.assert(property, { numRuns });
  await compare(10);
  await numberEnded(lists.db, ownerId);
  await compare();
  await indexAll(ownerId);
  await compare();
  await lists.db.begin((tx) => mergeBlock(tx, ownerId, 0));
  await compare();
  for (const { conversationId } of all.splice(0, 300)) {
    await lists.db`delete from conversations where owner_id = ${ownerId} and conversation_id = ${conversationId}`;
  }
  await compare();
  await rebuildBlock(lists.db, ownerId, 0);
  await compare();
});

test("searches with any filters give the same while open conversations fall silent, are continued and end", async () => {
  const ownerId = newOwner();
  const all = sampled(ownerId, Math.floor(1.1 * PART), 3);
  const open = all.filter(({ status }) => status === "IN_PROGRESS");
  await insert(lists.db, all);
  const property = fc.asyncProperty(searched, filter, paged, (search, asked, page) =>
    check(all, ownerId, { ...asked, search }, page),
  );
  const ofStatus = fc.asyncProperty(searched, filter, fc.constantFrom(...STATUSES), (search, asked, status) =>
    check(all, ownerId, { ...asked, status, search }, { number: 1, size: 10 }),
  );
  const compare = async () => {
    await fc.assert(property, { numRuns: 5 });
    await fc.assert(ofStatus, { numRuns: 5 });
  };
  await numberEnded(lists.db, ownerId);
  expect(await waitingOf(ownerId)).toBe(open.length);
  expect(await numberSilent(lists.db, ownerId, LATER)).toBe(true);
  expect(await waitingOf(ownerId)).toBe(0);
  await compare();
  await indexAll(ownerId);
  await compare();
  const [continued, continuedAndEnded, ended] = [open.slice(0, 30), open.slice(30, 60), open.slice(60, 90)];
  for (const row of [...continued, ...continuedAndEnded]) await say(row, "Grüße, order 77 😀");
  for (const [at, row] of [...continuedAndEnded, ...ended].entries())
    await end(row, at % 2 === 0 ? "COMPLETED" : "FAILED");
  expect(await waitingOf(ownerId)).toBe(60);
  await compare();
  await indexStatuses(lists.db, ownerId);
  await compare();
  await numberEnded(lists.db, ownerId);
  // Those that were just continued are not silent.
  await numberSilent(lists.db, ownerId, LATER);
  expect(await waitingOf(ownerId)).toBe(30);
  await lists.db.begin((tx) => mergeBlock(tx, ownerId, 0));
  for (const row of open.slice(90, 100)) await end(row, "DISCONNECTED");
  await indexStatuses(lists.db, ownerId);
  await compare();
  await rebuildBlock(lists.db, ownerId, 0);
  await compare();
});

test("a conversation that a turn has just continued is not numbered, and what was said is found", async () => {
  const ownerId = newOwner();
  const row = stored({ ownerId, status: "IN_PROGRESS", messages: ["Hello"] });
  await insert(lists.db, [row]);
  await lists.db.begin(async (tx) => {
    await tx`
      update conversations set message_count = 2, last_activity_at = ${LATER}
      where owner_id = ${ownerId} and conversation_id = ${row.conversationId}`;
    await tx`
      insert into messages (owner_id, conversation_id, seq, role, content, created_at)
      values (${ownerId}, ${row.conversationId}, 2, 'user', 'Goodbye', ${LATER})`;
    expect(await numberSilent(lists.db, ownerId, LATER)).toBe(true);
    expect(await waitingOf(ownerId)).toBe(1);
  });
  await check([{ ...row, messages: ["Hello", "Goodbye"] }], ownerId, { search: "bye" }, { number: 1, size: 10 });
});

test("pages of what is numbered, but not indexed, are in order", async () => {
  const ownerId = newOwner();
  const all = Array.from({ length: 40 }, (_, at) =>
    stored({ ownerId, createdAt: new Date(FIRST + Math.floor(at / 4) * MINUTE_MS), messages: ["Hello"] }),
  );
  await insert(lists.db, all);
  await numberEnded(lists.db, ownerId);
  const [{ agentId }] = all as [Stored];
  for (const asked of [{}, { from: new Date(FIRST + 3 * MINUTE_MS) }, { agentId }]) {
    for (const number of [1, 3, 6]) await check(all, ownerId, { search: "hello", ...asked }, { number, size: 7 });
  }
});

test("a conversation is found once at every moment while it is numbered, indexed, merged and rebuilt", async () => {
  const ownerId = newOwner();
  const count = 2 * PART + 100;
  const all = Array.from({ length: count }, (_, at) =>
    stored({ ownerId, status: at % 4 === 0 ? "IN_PROGRESS" : "COMPLETED", messages: [`Number ${at} of all`] }),
  );
  const open = all.filter(({ status }) => status === "IN_PROGRESS");
  await insert(lists.db, all);
  let isChanging = true;
  const searching = ["number", "of all", "al", "xylograph"].map(async (search) => {
    do {
      const { total } = await lists.lists.listConversations(request(ownerId, { search }));
      expect({ search, total }).toEqual({ search, total: search === "xylograph" ? 0 : count });
    } while (isChanging);
  });
  await Promise.all([indexAll(ownerId), indexAll(ownerId)]);
  for (const row of open.slice(0, 20)) await say(row, "More");
  for (const row of open.slice(10, 40)) await end(row, "COMPLETED");
  await indexAll(ownerId);
  for (const row of open.slice(0, 10)) await end(row, "FAILED");
  await indexAll(ownerId);
  await lists.db.begin((tx) => mergeBlock(tx, ownerId, 0));
  await rebuildBlock(lists.db, ownerId, 0);
  isChanging = false;
  await Promise.all(searching);
  expect(await waitingOf(ownerId)).toBe(0);
});

test("texts of deleted conversations leave the index within hours, and at once if nothing is left of their block", async () => {
  const [kept, emptied] = [newOwner(), newOwner()];
  const secret = "Xyzzy-4711";
  for (const ownerId of [kept, emptied]) {
    const all = Array.from({ length: PART }, (_, at) => stored({ ownerId, messages: [at === 7 ? secret : "Hello"] }));
    await insert(lists.db, all);
    await indexAll(ownerId);
    const gone = ownerId === emptied ? all : all.slice(7, 8);
    await lists.db`
        delete from conversations
        where owner_id = ${ownerId} and conversation_id = any(${gone.map((row) => row.conversationId)}::uuid[])`;
  }
  const rows = async () => {
    const [row] = await lists.db<[{ words: number; texts: number; terms: number }]>`
        select (select count(*) from search_terms where term like ${`%${secret.toLowerCase()}%`})::integer as words,
          (select count(*) from search_documents where text like ${`%${secret.toLowerCase()}%`})::integer as texts,
          (select count(*) from search_terms where owner_id = ${emptied})::integer as terms`;
    return row;
  };
  expect(await rows()).toMatchObject({ words: 2, texts: 0 });
  const sweep = goneConversations(lists.db);
  const now = Date.now();
  await sweep.run(new Date(now), AbortSignal.any([]));
  expect(await rows()).toEqual({ words: 1, texts: 0, terms: 0 });
  await sweep.run(new Date(now + 9 * HOUR_MS), AbortSignal.any([]));
  expect(await rows()).toEqual({ words: 0, texts: 0, terms: 0 });
  await check([], emptied, { search: "hello" }, { number: 1, size: 10 });
  expect((await lists.lists.listConversations(request(kept, { search: "hello" }))).total).toBe(PART - 1);
});

test("the service indexes ended and silent conversations by itself, and searches the others directly", async () => {
  const ownerId = newOwner();
  const createdAt = new Date(lists.clock.now().getTime() - HOUR_MS);
  // One conversation in 128 requests the index job.
  const all = Array.from({ length: 3_000 }, (_, at) =>
    stored({ ownerId, status: at % 3 === 0 ? "IN_PROGRESS" : "COMPLETED", createdAt, messages: ["Hello"] }),
  );
  await insert(lists.db, all);
  const spoken = all.filter(({ status }) => status === "IN_PROGRESS").slice(0, 500);
  await lists.db`
    update conversations set last_activity_at = ${lists.clock.now()}
    where owner_id = ${ownerId} and conversation_id = any(${spoken.map((row) => row.conversationId)}::uuid[])`;
  // The service's clock stands still, so the test makes the job due.
  await lists.db`update jobs set due_at = '2025-01-01' where owner_id = ${ownerId} and job_id = 'index-conversations'`;
  await eventually(async () => {
    expect(await waitingOf(ownerId)).toBe(500);
  });
  await check(all, ownerId, { search: "ell" }, { number: 1, size: 10 });
});

test("a text with a character that cannot be stored matches nothing", async () => {
  const ownerId = newOwner();
  await insert(lists.db, [stored({ ownerId, messages: ["one", "two"] })]);
  for (const search of ["e\u001et", "\0", "one\0"]) await check([], ownerId, { search }, { number: 1, size: 10 });
});
