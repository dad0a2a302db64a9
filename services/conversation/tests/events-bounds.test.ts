import { afterAll, afterEach, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { newUuid } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import { type DueEvent, findDueEvents } from "../src/store/events/owner-events.ts";
import { PAYLOAD_BYTES_MAX } from "../src/store/events/payload-bounds.ts";
import { endChats, openChats } from "./alone-kit.ts";
import { allSentLater, eventOf, eventsOf, payloadOf } from "./events-kit.ts";
import { startTestChat } from "./kit.ts";

const service = await startTestChat();
const db = openDatabase({ url: service.env.DATABASE_URL ?? "", name: "test" });

afterAll(async () => {
  await db.end();
  await service.stop();
});

afterEach(async () => {
  service.dispatcher.accept = () => {};
  await allSentLater(service);
});

/** A chat of one greeting. */
async function chat(ownerId = newOwner()): Promise<string> {
  const [id = ""] = await openChats(service.sql, ownerId, 1, { at: service.clock.now() });
  return id;
}

async function say(conversationId: string, contents: readonly string[]): Promise<void> {
  await service.sql`
    insert into messages (owner_id, conversation_id, seq, role, content, created_at)
    select owner_id, conversation_id, at + 1, 'assistant', content, now()
    from conversations cross join unnest(${contents as string[]}::text[]) with ordinality as said (content, at)
    where conversation_id = ${conversationId}`;
}

async function payloadOfEnded(conversationId: string) {
  await endChats(service.sql, [conversationId], service.clock.now());
  const event = await eventOf(service, conversationId);
  expect(Buffer.byteLength(event.payload)).toBeLessThanOrEqual(PAYLOAD_BYTES_MAX);
  return payloadOf(event);
}

test("two owners may use one conversation id, and each owner's event carries its own conversation", async () => {
  const id = newUuid();
  const owners = [newOwner(), newOwner()].toSorted();
  for (const ownerId of owners) {
    const [own = ""] = await openChats(service.sql, ownerId, 1, { at: service.clock.now() });
    await service.sql.begin(async (tx) => {
      await tx`update conversations set conversation_id = ${id}, notes = ${`of ${ownerId}`} where conversation_id = ${own}`;
      await tx`
        update messages set conversation_id = ${id}, content = ${`said to ${ownerId}`} where conversation_id = ${own}`;
    });
  }
  await endChats(service.sql, [id], service.clock.now());
  await allSentLater(service);
  const told = eventsOf(service.dispatcher, id).map((event) => [event.ownerId, payloadOf(event)]);
  expect(told.toSorted()).toEqual(
    owners.map((ownerId) => [
      ownerId,
      expect.objectContaining({
        notes: `of ${ownerId}`,
        conversation_transcript: [expect.objectContaining({ content: `said to ${ownerId}` })],
      }),
    ]),
  );
});

test("ten owners whose events the dispatcher accepts very slowly delay no other owner's", async () => {
  const slow = Array.from({ length: 10 }, newOwner);
  const sentOf = (ownerId: string) => service.dispatcher.events.filter((event) => event.ownerId === ownerId).length;
  const accepted = Promise.withResolvers<void>();
  service.dispatcher.accept = ({ ownerId }) => (slow.includes(ownerId) ? accepted.promise : undefined);
  for (const ownerId of slow) {
    const ids = await openChats(service.sql, ownerId, 60, { at: service.clock.now() });
    await endChats(service.sql, ids, service.clock.now());
  }
  await eventually(() => expect(slow.map(sentOf)).not.toContain(0));
  const other = newOwner();
  for (const count of [1, 10]) {
    const ids = await openChats(service.sql, other, count, { at: service.clock.now() });
    await endChats(service.sql, ids, service.clock.now());
    // All of them leave the outbox while the slow owners' batches are still in progress.
    await eventually(async () => {
      expect(await service.sql`select 1 from owner_events where owner_id = ${other}`).toHaveLength(0);
    });
  }
  expect(Math.max(...slow.map(sentOf))).toBeLessThanOrEqual(25);
  accepted.resolve();
});

test("a large event that the dispatcher accepts slowly delays no other owner's, even if both became due together", async () => {
  const [large, other] = [newOwner(), newOwner()];
  const accepted = Promise.withResolvers<void>();
  service.dispatcher.accept = ({ ownerId }) => (ownerId === large ? accepted.promise : undefined);
  const ids = [await chat(large), await chat(other)];
  await say(ids[0] ?? "", ["\u0001".repeat(100_000)]);
  await endChats(service.sql, ids, service.clock.now());
  await eventually(() => expect(service.dispatcher.events.some(({ ownerId }) => ownerId === large)).toBeTrue());
  await eventually(async () => {
    expect(await service.sql`select 1 from owner_events where owner_id = ${other}`).toHaveLength(0);
  });
  expect(await service.sql`select 1 from owner_events where owner_id = ${large}`).toHaveLength(1);
  accepted.resolve();
});

test("a transcript that is too long keeps its newest messages and is marked as truncated", async () => {
  const id = await chat();
  const said = Array.from({ length: 9 }, (_, at) => `${at}${"\u0001".repeat(30_000)}`);
  await say(id, said);
  const payload = await payloadOfEnded(id);
  expect(payload.conversation_transcript_truncated).toBeTrue();
  expect(payload.conversation_transcript.map(({ content }: { content: string }) => content)).toEqual(said.slice(-5));
});

test("a message that is too long keeps its first 100,000 whole characters and is marked as truncated", async () => {
  const id = await chat();
  await say(id, ["🎉".repeat(100_001)]);
  const payload = await payloadOfEnded(id);
  expect(payload.conversation_transcript_truncated).toBeTrue();
  expect(payload.conversation_transcript.at(-1).content).toBe("🎉".repeat(100_000));
});

test("a payload that fits is complete and not marked as truncated", async () => {
  const id = await chat();
  await say(id, ["x".repeat(100_000), "語".repeat(100_000)]);
  const payload = await payloadOfEnded(id);
  expect(payload.conversation_transcript).toHaveLength(3);
  expect(payload).not.toContainAnyKeys(["conversation_transcript_truncated", "conversation_analysis_truncated"]);
});

test("an analysis that is too long keeps as many fields as fit, in order, and is marked as truncated", async () => {
  const id = await chat();
  const items = [
    { name: "mood", value: "calm", type: "str" },
    { name: "story", value: "\u0001".repeat(500_000), type: "str" },
    { name: "summary", value: "é".repeat(20_000), type: "str" },
    { name: "calls", value: null, type: "int", error: "the model left it out" },
  ];
  await service.sql`
    update conversations set analysis = ${service.sql.json(items)}, notes = ${"\u0001".repeat(10_000)}
    where conversation_id = ${id}`;
  await say(id, ["\u0001".repeat(100_000)]);
  const payload = await payloadOfEnded(id);
  expect(payload.conversation_analysis).toEqual([items[0], items[2], items[3]]);
  expect(payload.conversation_analysis_truncated).toBeTrue();
  expect(payload.conversation_transcript.at(-1).content).toHaveLength(100_000);
});

test("no payload exceeds the size that due events are counted with", async () => {
  const ownerId = newOwner();
  const contents = ["", "\u0001".repeat(5_000), '"'.repeat(70_000), "語".repeat(40_000), "x".repeat(400_000)];
  let counted: DueEvent[] = [];
  const ids: string[] = [];
  for (const content of contents) {
    const id = await chat(ownerId);
    await say(id, Array(5).fill(content));
    ids.push(id);
  }
  const notes = "\u0001".repeat(10_000);
  await service.sql.begin(async (tx) => {
    await tx`
      update conversations set status = 'COMPLETED', notes = ${notes}, updated_at = ${service.clock.now()}
      where conversation_id = any(${ids})`;
    // Due later, so that the test can look at them before the relay sends them.
    await tx`update owner_events set due_at = due_at + interval '1 minute' where owner_id = ${ownerId}`;
  });
  const later = new Date(service.clock.now().getTime() + 60_000);
  counted = await findDueEvents(db, ownerId, later, 50);
  await allSentLater(service);
  for (const id of ids) {
    const bytes = Buffer.byteLength(eventsOf(service.dispatcher, id)[0]?.payload ?? "");
    const most = counted.find(({ conversationId }) => conversationId === id)?.bytesMax ?? 0;
    expect(bytes).toBeLessThanOrEqual(most);
    expect(most).toBeLessThanOrEqual(PAYLOAD_BYTES_MAX);
  }
});
