import { afterAll, expect, test } from "bun:test";
import { RetrySchedule } from "@parley/proto/parley/webhook/v1/webhook.ts";
import { fakeClock } from "@parley/testkit/clock";
import { eventually } from "@parley/testkit/eventually";
import { failure } from "@parley/testkit/failures";
import {
  acceptEvent,
  deliveriesOf,
  ended,
  FAILED,
  newDestination,
  newEvent,
  PENDING,
  startTestDispatcher,
  UNSPECIFIED,
} from "./kit.ts";
import { startReceiver } from "./receiver.ts";

const { RETRY_SCHEDULE_STANDARD: STANDARD, RETRY_SCHEDULE_EXTENDED: EXTENDED } = RetrySchedule;
const EXTENDED_WAITS_S = [10, 300, 1_500, 5_400, 14_400, 28_800, 36_000];

const clock = fakeClock();
const service = await startTestDispatcher({ PARLEY_WEBHOOK_RETRY_MS: "10000" }, { clock });
afterAll(() => service.stop());

/** The owner's delivery once it has this many attempts and its next one is known. */
function attempted(ownerId: string, attempts: number) {
  return eventually(async () => {
    const [delivery] = await deliveriesOf(service.client, ownerId);
    if (delivery?.attempts.length !== attempts) throw new Error(`attempts: ${delivery?.attempts.length}`);
    return delivery;
  });
}

test("a destination with the extended schedule gets a failing delivery eight times over 24 hours, and again as often when it is resent", async () => {
  await using receiver = startReceiver();
  receiver.answer = () => new Response("", { status: 503 });
  const { ownerId, retrySchedule } = await newDestination(service.client, receiver.url, { retrySchedule: EXTENDED });
  expect(retrySchedule).toBe(EXTENDED);
  await acceptEvent(service.client, newEvent(ownerId));
  for (const [at, waitS] of EXTENDED_WAITS_S.entries()) {
    const delivery = await attempted(ownerId, at + 1);
    expect(delivery.status).toBe(PENDING);
    expect(delivery.nextAttemptAt).toEqual(new Date(clock.now().getTime() + waitS * 1_000));
    clock.advance(waitS * 1_000);
  }
  const [failed] = await ended(service.client, ownerId);
  expect(failed).toMatchObject({ status: FAILED, nextAttemptAt: undefined });
  expect(receiver.received).toHaveLength(8);
  await service.client.resendDelivery({ ownerId, deliveryId: failed?.deliveryId ?? "" });
  const again = await attempted(ownerId, 9);
  expect(again.nextAttemptAt).toEqual(new Date(clock.now().getTime() + 10_000));
});

test("a destination has the standard schedule until it is given another, which its next deliveries have", async () => {
  await using receiver = startReceiver();
  receiver.answer = () => new Response("", { status: 503 });
  const { ownerId, destinationId, retrySchedule } = await newDestination(service.client, receiver.url);
  expect(retrySchedule).toBe(STANDARD);
  const key = { ownerId, destinationId, requestType: UNSPECIFIED };
  const { destination } = await service.client.updateDestination({ ...key, retrySchedule: EXTENDED });
  expect(destination?.retrySchedule).toBe(EXTENDED);
  const renamed = await service.client.updateDestination({ ...key, name: "ERP" });
  expect(renamed.destination?.retrySchedule).toBe(EXTENDED);
  await service.client.sendTestEvent({ ownerId, destinationId });
  await attempted(ownerId, 1);
  const [row] = await service.sql`select attempts_left from deliveries where owner_id = ${ownerId}`;
  expect(row).toEqual({ attempts_left: 7 });
});

test("a schedule that does not exist is refused, naming the field", async () => {
  const refused = await failure(
    newDestination(service.client, "https://hooks.example.com", { retrySchedule: 9 as RetrySchedule }),
  );
  expect(refused).toMatchObject({
    kind: "invalid",
    paths: ["retry_schedule"],
    detail: "retry_schedule must be one of standard, extended",
  });
});
