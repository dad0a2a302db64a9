import { afterAll, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { resent } from "../src/delivery/state.ts";
import { CHANGED_AT_ONCE, changeFailed } from "../src/store/deliveries.ts";
import type { DestinationKey } from "../src/store/destinations.ts";
import { newDestination, startTestDispatcher, UNSPECIFIED } from "./kit.ts";

const MORE = 500;
const TOMORROW = new Date(Date.now() + 86_400_000);

const service = await startTestDispatcher();
afterAll(() => service.stop());

async function insertDeliveries(
  { ownerId, destinationId }: DestinationKey,
  count: number,
  status: "pending" | "failed",
): Promise<void> {
  const { sql } = service;
  const [left, due] = status === "pending" ? [4, TOMORROW] : [0, null];
  await sql`
    with event as (
      insert into events (owner_id, event_id, event, conversation_id, payload, test, created_at)
      values (${ownerId}, 'evt_1', 'conversation.completed', 'one', '{}', false, now())
    )
    insert into deliveries (owner_id, delivery_id, destination_id, event_id, conversation_id, status, attempts, attempts_left,
      next_attempt_at, created_at)
    select ${ownerId}, 'dlv_' || lpad(number::text, 26, '0'), ${destinationId}, 'evt_1', 'one', ${status}, 0, ${left}, ${due}, now()
    from generate_series(1, ${count}::integer) as number`;
}

async function countOf({ ownerId }: DestinationKey, status: string): Promise<number> {
  const [row] = await service.sql`
    select count(*)::integer as total from deliveries where owner_id = ${ownerId} and status = ${status}`;
  return row?.total;
}

test("disabling a destination cancels its pending deliveries, however many, and no transaction changes all of them", async () => {
  const { client, sql } = service;
  const destination = await newDestination(client, "https://hooks.example.com");
  const { ownerId, destinationId } = destination;
  await insertDeliveries(destination, CHANGED_AT_ONCE + MORE, "pending");
  await client.updateDestination({ ownerId, destinationId, enabled: false, requestType: UNSPECIFIED });
  await eventually(async () => expect(await countOf(destination, "pending")).toBe(0));
  expect(await countOf(destination, "cancelled")).toBe(CHANGED_AT_ONCE + MORE);
  const transactions = await sql`select distinct xmin::text from deliveries where owner_id = ${ownerId}`;
  expect(transactions).toHaveLength(2);
});

test("failed deliveries are resent part by part, none of them twice", async () => {
  const destination = await newDestination(service.client, "https://hooks.example.com");
  await insertDeliveries(destination, CHANGED_AT_ONCE + MORE, "failed");
  const since = new Date(0);
  const next = (after: string) =>
    changeFailed(service.sql, destination, { since, after }, resent("standard", TOMORROW));
  const first = await next("");
  expect(first.count).toBe(CHANGED_AT_ONCE);
  await service.sql`
    update deliveries set status = 'failed', attempts_left = 0, next_attempt_at = null
    where owner_id = ${destination.ownerId} and delivery_id = ${first.last}`;
  expect((await next(first.last)).count).toBe(MORE);
  expect(await next("")).toEqual({ count: 1, last: first.last });
});
