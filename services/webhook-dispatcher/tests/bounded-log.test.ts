import { afterAll, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { foldChanges } from "@parley/shared/folds/fold";
import { findStoredBytes, STORED_BYTES_FOLD } from "@parley/shared/stored-bytes/fold";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import { DELIVERED, deliveriesOf, ended, newDestination, newEvent, PENDING, startTestDispatcher } from "./kit.ts";
import { startReceiver } from "./receiver.ts";

const BYTES_MAX = 400_000;
const PAYLOAD_BYTES = 10_000;
/** Together more than the 64 KiB that are folded soon. */
const AT_ONCE = 20;
const WITHIN_MS = 30_000;

const service = await startTestDispatcher({ PARLEY_EVENTS_OWNER_BYTES: String(BYTES_MAX) });
const db = openDatabase({ url: service.env.DATABASE_URL ?? "", name: "test" });
afterAll(async () => {
  await db.end();
  await service.stop();
});

/** Events with a long payload each. */
async function accept(ownerId: string): Promise<string[]> {
  const events = Array.from({ length: AT_ONCE }, () =>
    newEvent(ownerId, { payload: JSON.stringify("x".repeat(PAYLOAD_BYTES - 2)) }),
  );
  await service.client.batchAcceptEvents({ events });
  return events.map(({ eventId }) => eventId);
}

/** What is stored, row by row. */
async function countedBytes(ownerId: string): Promise<number> {
  const [row] = await db<[{ bytes: number }]>`
    select coalesce(sum(bytes), 0)::bigint as bytes from (
      select sum(500 + coalesce(octet_length(payload), 0)) as bytes from events where owner_id = ${ownerId}
      union all select 500 * count(*) from deliveries where owner_id = ${ownerId}
      union all
      select sum(200 + coalesce(octet_length(response_excerpt), 0) + coalesce(octet_length(request), 0))
      from attempts where owner_id = ${ownerId}
    ) as rows`;
  return row.bytes;
}

/** Waits until the owner has no more than is allowed. */
async function bounded(ownerId: string): Promise<void> {
  await eventually(async () => expect(await countedBytes(ownerId)).toBeLessThanOrEqual(BYTES_MAX), WITHIN_MS);
}

async function expectExact(ownerId: string): Promise<void> {
  while ((await foldChanges(db, ownerId, STORED_BYTES_FOLD)) > 0);
  expect(await findStoredBytes(db, ownerId)).toBe(await countedBytes(ownerId));
}

test("of an owner who stores more than the limit, the oldest ended events go with their deliveries; others keep theirs", async () => {
  await using receiver = startReceiver();
  receiver.answer = () => new Response("thanks");
  const [busy, calm] = [newOwner(), newOwner()];
  for (const ownerId of [busy, calm]) await newDestination(service.client, receiver.url, { ownerId });
  await accept(calm);
  const sent: string[] = [];
  for (let round = 0; round < 4; round++) {
    sent.push(...(await accept(busy)));
    await eventually(async () => expect(await deliveriesOf(service.client, busy, { status: PENDING })).toBeEmpty());
  }
  await bounded(busy);
  const kept = (await ended(service.client, busy)).map(({ eventId }) => eventId).sort();
  expect(kept).toEqual(sent.slice(-kept.length).sort());
  expect(kept.length).toBeGreaterThan(AT_ONCE);
  for (const table of ["attempts", "deliveries"]) {
    const [rows] = await db`select count(*)::integer as count from ${db(table)} where owner_id = ${busy}`;
    expect(rows?.count).toBe(kept.length);
  }
  expect(await ended(service.client, calm)).toHaveLength(AT_ONCE);
  for (const ownerId of [busy, calm]) await expectExact(ownerId);
});

test("of an owner whose receiver hangs, what has been pending for longest goes, and the newest is delivered in the end", async () => {
  await using receiver = startReceiver();
  const answers = Promise.withResolvers<void>();
  receiver.answer = async () => {
    await answers.promise;
    return new Response("late");
  };
  const { ownerId } = await newDestination(service.client, receiver.url);
  const sent: string[] = [];
  for (let round = 0; round < 4; round++) sent.push(...(await accept(ownerId)));
  await bounded(ownerId);
  const pending = await deliveriesOf(service.client, ownerId, { status: PENDING });
  expect(pending.length).toBeGreaterThan(0);
  expect(pending.map(({ eventId }) => eventId).sort()).toEqual(sent.slice(-pending.length).sort());
  answers.resolve();
  await eventually(async () => {
    expect(await deliveriesOf(service.client, ownerId, { status: DELIVERED })).toHaveLength(pending.length);
  }, WITHIN_MS);
  await expectExact(ownerId);
});

test("an owner's sum is exact after payloads, responses and rows are removed", async () => {
  await using receiver = startReceiver();
  receiver.answer = () => new Response("ö".repeat(1_000), { status: 500 });
  const { client } = service;
  const { ownerId, destinationId } = await newDestination(client, receiver.url);
  const events = [newEvent(ownerId), newEvent(ownerId)];
  await client.batchAcceptEvents({ events });
  await ended(client, ownerId, 2);
  await expectExact(ownerId);
  for (let round = 0; round < 6; round++) {
    await client.resendFailedDeliveries({ ownerId, destinationId, since: new Date(0) });
    await ended(client, ownerId, 2);
  }
  await expectExact(ownerId);
  await client.forgetConversations({ ownerId, conversationIds: [events[0]?.conversationId ?? ""] });
  await expectExact(ownerId);
  await client.forgetOwner({ ownerId });
  await eventually(async () => expect(await countedBytes(ownerId)).toBe(0), WITHIN_MS);
  await expectExact(ownerId);
});
