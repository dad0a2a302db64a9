import { afterAll, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { newOwner } from "@parley/testkit/owners";
import { countingReads } from "@parley/testkit/statement-cost/reads";
import { type DeliveryFilter, listDeliveryRows } from "../src/store/list-deliveries.ts";
import { startTestDispatcher } from "./kit.ts";

const MANY = 5_000;
const SIZE = 10;
/** So that reading all events of the owner is never cheaper than reading those of a page. */
const PAYLOAD_BYTES = 1_000;

const service = await startTestDispatcher();
const db = openDatabase({ url: service.env.DATABASE_URL ?? "", name: "test" });
afterAll(async () => {
  await db.end();
  await service.stop();
});

const idOf = (number: number) => `dlv_${String(number).padStart(26, "0")}`;

/** Deliveries of an owner, one in ten of them failed, to two destinations in turn. */
async function insertMany(): Promise<string> {
  const ownerId = newOwner();
  await service.sql`
    insert into events (owner_id, event_id, event, conversation_id, payload, test, created_at)
    select ${ownerId}, 'evt_' || number, 'conversation.completed', 'of ' || number, repeat('x', ${PAYLOAD_BYTES}), false, now()
    from generate_series(1, ${MANY}::integer) as number`;
  await service.sql`
    insert into deliveries (owner_id, delivery_id, destination_id, event_id, conversation_id, status, attempts, attempts_left,
      created_at)
    select ${ownerId}, 'dlv_' || lpad(number::text, 26, '0'), 'to ' || number % 2, 'evt_' || number, 'of ' || number,
      case when number % 10 = 0 then 'failed' else 'delivered' end, 1, 0, now()
    from generate_series(1, ${MANY}::integer) as number`;
  await service.sql`analyze events`;
  await service.sql`analyze deliveries`;
  return ownerId;
}

/** A page, and how many events were read for it. */
async function pageOf(filter: Pick<DeliveryFilter, "ownerId"> & Partial<DeliveryFilter>, number: number) {
  const whole = { destinationId: null, conversationId: null, status: null, ...filter };
  const { result, read } = await countingReads(db, "events", (within) =>
    listDeliveryRows(within, whole, { number, size: SIZE }),
  );
  return { ids: result.rows.map(({ deliveryId }) => deliveryId), total: result.total, read };
}

test("a deep page of deliveries reads the events of its own deliveries, not those of the pages before", async () => {
  const ownerId = await insertMany();
  const last = await pageOf({ ownerId }, MANY / SIZE);
  expect(last).toEqual({
    ids: Array.from({ length: SIZE }, (_, at) => idOf(SIZE - at)),
    total: MANY,
    read: SIZE,
  });
  const ofOne = await pageOf({ ownerId, destinationId: "to 1", status: "delivered" }, 3);
  const numbers = Array.from({ length: SIZE }, (_, at) => MANY - 1 - 2 * (2 * SIZE + at));
  expect(ofOne).toEqual({ ids: numbers.map(idOf), total: MANY / 2, read: SIZE });
  const failed = await pageOf({ ownerId, status: "failed" }, 50);
  expect(failed).toEqual({
    ids: Array.from({ length: SIZE }, (_, at) => idOf(10 * (SIZE - at))),
    total: MANY / 10,
    read: SIZE,
  });
  expect(await pageOf({ ownerId }, MANY / SIZE + 1)).toEqual({ ids: [], total: MANY, read: 0 });
});

test("the page and the total of a list are planned for its status, although Postgres would keep plans for any", async () => {
  const unused = openDatabase({ url: service.env.DATABASE_URL ?? "", name: "test" });
  try {
    const filter = { ownerId: newOwner(), destinationId: null, conversationId: null, status: "failed" as const };
    const { result } = await countingReads(unused, "deliveries", async (within) => {
      await within`set local plan_cache_mode = force_generic_plan`;
      await listDeliveryRows(within, filter, { number: 1, size: SIZE });
      return within<{ custom: number; generic: number }[]>`
        select custom_plans::integer as custom, generic_plans::integer as generic from pg_prepared_statements
        where statement like ${"%from deliveries d where%"}`;
    });
    expect([...result]).toEqual([
      { custom: 1, generic: 0 },
      { custom: 1, generic: 0 },
    ]);
  } finally {
    await unused.end();
  }
});
