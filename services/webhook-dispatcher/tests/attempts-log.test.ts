import { afterAll, expect, test } from "bun:test";
import { ATTEMPTS_KEPT } from "../src/store/deliveries.ts";
import { acceptEvent, ended, newDestination, newEvent, startTestDispatcher } from "./kit.ts";
import { startReceiver } from "./receiver.ts";

/** Attempts that a delivery gets each time. */
const ROUND = 4;
const EXCERPT_BYTES = 4096;

const service = await startTestDispatcher();
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
