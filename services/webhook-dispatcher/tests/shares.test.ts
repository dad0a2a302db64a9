import { afterAll, beforeAll, expect, test } from "bun:test";
import { newId } from "@parley/shared/ids";
import { createSealer } from "@parley/shared/sealing";
import { type ByteShares, byteShares } from "@parley/shared/shares/byte-shares";
import { TEST_SECRET } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { tellWorkers } from "@parley/testkit/jobs";
import { newOwner } from "@parley/testkit/owners";
import { sealSecret } from "../src/secrets.ts";
import {
  acceptEvent,
  DELIVERED,
  deliveriesOf,
  ended,
  GET,
  newDestination,
  newEvent,
  startTestDispatcher,
  type TestDispatcher,
} from "./kit.ts";
import { fieldOf, type Receiver, startReceiver } from "./receiver.ts";

const MIB = 1024 * 1024;
const TOTAL_BYTES = 12 * MIB;
const OWNER_BYTES = 4 * MIB;
const PAYLOAD_BYTES = MIB;

let service: TestDispatcher;
let shares: ByteShares;
/** The most that was held at any time. */
let peakBytes = 0;

beforeAll(async () => {
  const inner = byteShares({ what: "deliveries", totalBytes: TOTAL_BYTES, ownerBytes: OWNER_BYTES, waitingMax: 1_000 });
  shares = {
    ...inner,
    hold: async (...request) => {
      const hold = await inner.hold(...request);
      peakBytes = Math.max(peakBytes, inner.heldBytes());
      return hold;
    },
  };
  service = await startTestDispatcher({ PARLEY_WEBHOOK_TIMEOUT_MS: "60000" }, { shares });
});
afterAll(() => service.stop());

/** Makes receivers leave requests unanswered until told otherwise. */
function hang(...receivers: Receiver[]): (status?: number) => void {
  const { promise, resolve } = Promise.withResolvers<number>();
  for (const receiver of receivers) receiver.answer = async () => new Response("", { status: await promise });
  return (status = 200) => resolve(status);
}

const longPayload = () => JSON.stringify({ text: "x".repeat(PAYLOAD_BYTES - 11) });

/** Events with a payload each, accepted one after another, because all of them are too much for one call. */
async function accept(ownerId: string, count: number, payload: () => string): Promise<void> {
  for (let at = 0; at < count; at++) await acceptEvent(service.client, newEvent(ownerId, { payload: payload() }));
}

test("ten times the memory for hanging receivers stay within their memory limit, and another owner's events are delivered", async () => {
  await using hanging = startReceiver();
  await using quick = startReceiver();
  const answer = hang(hanging);
  const hostile = newOwner();
  const destinations = Array.from({ length: 6 }, (_, at) => `${hanging.url}/${at}`);
  for (const url of destinations) await newDestination(service.client, url, { ownerId: hostile });
  await accept(hostile, 20, longPayload);
  // As many attempts as fit into the owner's share, of 120 that are due.
  await eventually(() => expect(hanging.received).toHaveLength(OWNER_BYTES / PAYLOAD_BYTES));
  const { ownerId } = await newDestination(service.client, quick.url);
  await accept(ownerId, 1, () => "{}");
  await accept(ownerId, 3, longPayload);
  expect(await ended(service.client, ownerId, 4)).toMatchObject(Array(4).fill({ status: DELIVERED }));
  expect(hanging.received).toHaveLength(OWNER_BYTES / PAYLOAD_BYTES);
  expect(peakBytes).toBeLessThanOrEqual(2 * OWNER_BYTES);
  answer();
  await eventually(() => expect(hanging.received).toHaveLength(120), 30_000);
  expect(peakBytes).toBeLessThanOrEqual(TOTAL_BYTES);
  await eventually(() => expect(shares.heldBytes()).toBe(0));
});

test("short payloads are delivered while the memory for long ones is used up", async () => {
  await using hanging = startReceiver();
  await using quick = startReceiver();
  const answer = hang(hanging);
  for (let owner = 0; owner < 4; owner++) {
    const { ownerId } = await newDestination(service.client, hanging.url);
    await accept(ownerId, 4, longPayload);
  }
  await eventually(() => expect(shares.heldBytes()).toBe(TOTAL_BYTES));
  const { ownerId } = await newDestination(service.client, quick.url);
  await accept(ownerId, 3, () => "{}");
  expect(await ended(service.client, ownerId, 3)).toMatchObject(Array(3).fill({ status: DELIVERED }));
  answer();
  await eventually(() => expect(hanging.received).toHaveLength(16));
});

test("a payload longer than an owner's share, or than all the memory, is delivered alone", async () => {
  await using receiver = startReceiver();
  const { ownerId } = await newDestination(service.client, receiver.url);
  const lengths = [OWNER_BYTES + MIB, TOTAL_BYTES + MIB, 100];
  for (const length of lengths) await accept(ownerId, 1, () => JSON.stringify("x".repeat(length)));
  await ended(service.client, ownerId, 3);
  const received = receiver.received.map((each) => fieldOf(each, "payload").length - 2);
  expect(received.toSorted((a, b) => a - b)).toEqual(lengths.toSorted((a, b) => a - b));
});

test("disabling a destination drops its deliveries that wait for memory", async () => {
  await using hanging = startReceiver();
  const answer = hang(hanging);
  const { ownerId, destinationId } = await newDestination(service.client, hanging.url);
  await accept(ownerId, 8, longPayload);
  await eventually(() => expect(hanging.received).toHaveLength(4));
  await service.client.updateDestination({ ownerId, destinationId, enabled: false, requestType: 0 });
  answer(500);
  const deliveries = await ended(service.client, ownerId, 8);
  expect(deliveries.every(({ status }) => status !== DELIVERED)).toBeTrue();
  await eventually(() => expect(shares.heldBytes()).toBe(0));
});

test("all of an owner's 50 destinations are delivered to at once, and leave room for another owner's", async () => {
  await using receiver = startReceiver();
  await using hanging = startReceiver();
  const answer = hang(hanging, receiver);
  const many = newOwner();
  for (let at = 0; at < 50; at++) await newDestination(service.client, `${hanging.url}/${at}`, { ownerId: many });
  const { ownerId: few } = await newDestination(service.client, receiver.url);
  await Promise.all(Array.from({ length: 15 }, () => acceptEvent(service.client, newEvent(many))));
  // A destination without a place would wait for another one's turn to end.
  await eventually(() => expect(new Set(hanging.received.map(({ target }) => target)).size).toBe(50));
  await Promise.all(Array.from({ length: 40 }, () => acceptEvent(service.client, newEvent(few))));
  // As many as one destination ever gets; an equal share for each destination would be 15.
  await eventually(() => expect(receiver.received).toHaveLength(32));
  answer();
  await eventually(() => expect(hanging.received).toHaveLength(750), 30_000);
});

test("an owner whose events cannot be stored yet delays no other owner's, in the same call or another", async () => {
  await using receiver = startReceiver();
  const { client, sql } = service;
  const stuck = await newDestination(client, receiver.url);
  const other = await newDestination(client, receiver.url);
  await acceptEvent(client, newEvent(stuck.ownerId));
  await ended(client, stuck.ownerId, 1);
  const blocked = await sql.begin(async (tx) => {
    // The statement that stores the next event requests the same job, so it waits.
    await tx`
      insert into jobs (owner_id, job_id, queue, payload, due_at)
      values (${stuck.ownerId}, ${stuck.destinationId}, 'deliver', '{}', 'infinity')
      on conflict (owner_id, job_id) do update set due_at = jobs.due_at`;
    const together = client.batchAcceptEvents({ events: [newEvent(stuck.ownerId), newEvent(other.ownerId)] });
    const alone = Array.from({ length: 20 }, () => acceptEvent(client, newEvent(stuck.ownerId)));
    await ended(client, other.ownerId, 1);
    await acceptEvent(client, newEvent(other.ownerId));
    await ended(client, other.ownerId, 2);
    expect(await deliveriesOf(client, stuck.ownerId)).toHaveLength(1);
    return [together, ...alone];
  });
  await Promise.all(blocked);
  await ended(client, stuck.ownerId, 22);
});

test("a statement stores at most 256 deliveries, and each event with all of its own", async () => {
  await using hanging = startReceiver();
  const answer = hang(hanging);
  const { client, sql } = service;
  const ownerId = newOwner();
  for (let at = 0; at < 50; at++) await newDestination(client, `${hanging.url}/${at}`, { ownerId });
  await client.batchAcceptEvents({ events: Array.from({ length: 11 }, () => newEvent(ownerId)) });
  const statements = await sql<{ events: number; deliveries: number }[]>`
    select count(distinct event_id)::integer as events, count(*)::integer as deliveries
    from events join deliveries using (owner_id, event_id)
    where owner_id = ${ownerId} group by events.xmin::text order by 1`;
  expect([...statements]).toEqual([
    { events: 1, deliveries: 50 },
    { events: 5, deliveries: 250 },
    { events: 5, deliveries: 250 },
  ]);
  answer();
  await eventually(() => expect(hanging.received).toHaveLength(550), 30_000);
});

test("two owners may use the same destination, delivery and event ids, and neither waits for the other", async () => {
  await using one = startReceiver();
  await using other = startReceiver();
  const answer = hang(one);
  const { sql } = service;
  const sealer = createSealer(TEST_SECRET);
  const [destinationId, eventId, deliveryId] = [newId("whd"), newId("evt"), newId("dlv")];
  const owners = [newOwner(), newOwner()];
  const urls = [one.url, other.url];
  for (const [at, ownerId] of owners.entries()) {
    const made = await newDestination(service.client, urls[at] ?? "", { ownerId });
    const sealed = sealSecret(sealer, { ownerId, destinationId }, made.secret);
    await sql`update destinations set destination_id = ${destinationId}, sealed_secret = ${sealed} where owner_id = ${ownerId}`;
    await sql`
      insert into events (owner_id, event_id, event, conversation_id, payload, test, created_at)
      values (${ownerId}, ${eventId}, 'conversation.completed', 'c', ${JSON.stringify({ of: ownerId })}, false, now())`;
    await sql`
      insert into deliveries (owner_id, delivery_id, destination_id, event_id, conversation_id, status, attempts,
        attempts_left, next_attempt_at, created_at)
      values (${ownerId}, ${deliveryId}, ${destinationId}, ${eventId}, 'c', 'pending', 0, 4, now(), now())`;
  }
  await sql`
    insert into jobs (owner_id, job_id, queue, payload, due_at)
    select owner_id, ${destinationId}, 'deliver', '{}', now() from unnest(${owners}::text[]) as owners (owner_id)`;
  await tellWorkers(sql);
  await eventually(() => expect(one.received).toHaveLength(1));
  const [, second = ""] = owners;
  expect(await ended(service.client, second)).toMatchObject([{ status: DELIVERED }]);
  answer();
  expect(await ended(service.client, owners[0] ?? "")).toMatchObject([{ status: DELIVERED }]);
  const received = [one, other].map((receiver) => receiver.received.map((each) => fieldOf(each, "payload")));
  expect(received).toEqual(owners.map((ownerId) => [JSON.stringify({ of: ownerId })]));
});

test("a payload too long for a URL reaches a GET destination signed, without transcript and analysis, and says so", async () => {
  await using receiver = startReceiver();
  receiver.answer = () => new Response("ok");
  const { ownerId } = await newDestination(service.client, receiver.url, { requestType: GET });
  await acceptEvent(
    service.client,
    newEvent(ownerId, { payload: JSON.stringify({ notes: "n", conversation_transcript: ["x".repeat(70_000)] }) }),
  );
  await ended(service.client, ownerId);
  expect(JSON.parse(fieldOf(receiver.received[0] as never, "payload"))).toEqual({
    notes: "n",
    conversation_transcript: [],
    conversation_transcript_truncated: true,
    conversation_analysis: [],
    conversation_analysis_truncated: true,
  });
});

test("an owner has 64 attempts in progress, however many destinations it has", async () => {
  await using hanging = startReceiver();
  await using quick = startReceiver();
  const answer = hang(hanging);
  const hostile = newOwner();
  for (let at = 0; at < 4; at++) await newDestination(service.client, `${hanging.url}/${at}`, { ownerId: hostile });
  await accept(hostile, 32, () => "{}");
  await eventually(() => expect(hanging.received).toHaveLength(64));
  const { ownerId } = await newDestination(service.client, quick.url);
  await accept(ownerId, 1, () => "{}");
  await ended(service.client, ownerId, 1);
  expect(hanging.received).toHaveLength(64);
  answer();
  await eventually(() => expect(hanging.received).toHaveLength(128), 30_000);
});
