import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { ATTEMPTS_KEPT } from "../src/store/deliveries.ts";
import {
  acceptEvent,
  deliveriesOf,
  ended,
  FAILED,
  newDestination,
  newEvent,
  startTestDispatcher,
  type TestDispatcher,
} from "./kit.ts";
import { startReceiver } from "./receiver.ts";

/** Attempts that a delivery gets each time. */
const ROUND = 4;
const EXCERPT_BYTES = 4096;

let service: TestDispatcher;
beforeAll(async () => {
  service = await startTestDispatcher();
});
afterAll(() => service.stop());

test("a delivery that is resent again and again keeps its newest attempts, by their numbers, and no others on disk", async () => {
  await using receiver = startReceiver();
  receiver.answer = () => new Response("x".repeat(EXCERPT_BYTES), { status: 500 });
  const { client } = service;
  const { ownerId } = await newDestination(client, receiver.url);
  await acceptEvent(client, newEvent(ownerId));
  const rounds = ATTEMPTS_KEPT / ROUND + 2;
  for (let round = 1; round <= rounds; round++) {
    const [delivery] = await ended(client, ownerId);
    expect(delivery?.attempts.at(-1)?.number).toBe(round * ROUND);
    if (round < rounds) await client.resendDelivery({ ownerId, deliveryId: delivery?.deliveryId ?? "" });
  }
  const newest = Array.from({ length: ATTEMPTS_KEPT }, (_, at) => 2 * ROUND + at + 1);
  const [delivery] = await ended(client, ownerId);
  expect(delivery?.attempts.map(({ number }) => number)).toEqual(newest);
  const rows = await service.sql`select number from attempts where owner_id = ${ownerId} order by number`;
  expect(rows.map(({ number }) => number)).toEqual(newest);
});

test("of a delivery whose log an earlier release let grow, a list shows the newest attempts", async () => {
  await using receiver = startReceiver();
  receiver.answer = () => new Response("", { status: 500 });
  const { client } = service;
  const { ownerId } = await newDestination(client, receiver.url);
  await acceptEvent(client, newEvent(ownerId));
  const [delivery] = await ended(client, ownerId);
  const deliveryId = delivery?.deliveryId ?? "";
  await service.sql`
    insert into attempts (owner_id, delivery_id, number, started_at, duration_ms, http_status, response_excerpt)
    select ${ownerId}, ${deliveryId}, number, now(), 1, 500, repeat('x', 4096) from generate_series(5, 8000) as number`;
  await service.sql`update deliveries set attempts = 8000 where delivery_id = ${deliveryId}`;
  const newest = Array.from({ length: ATTEMPTS_KEPT }, (_, at) => 8000 - ATTEMPTS_KEPT + at + 1);
  const numbersOf = (attempts: readonly { number: number }[] = []) => attempts.map(({ number }) => number);
  const [listed] = await deliveriesOf(client, ownerId);
  expect(numbersOf(listed?.attempts)).toEqual(newest);
  const { delivery: found } = await client.getDelivery({ ownerId, deliveryId });
  expect(numbersOf(found?.attempts)).toEqual(newest);
  // The next attempt deletes the rest.
  await client.resendDelivery({ ownerId, deliveryId });
  await eventually(async () => expect(await deliveriesOf(client, ownerId)).toMatchObject([{ status: FAILED }]));
  const [kept] = await service.sql`select count(*)::integer as count from attempts where delivery_id = ${deliveryId}`;
  expect(kept).toEqual({ count: ATTEMPTS_KEPT });
});
