import { afterAll, expect, test } from "bun:test";
import { openDatabase, type Sql } from "@parley/shared/db/database";
import { createTestDatabase } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import { cancelled, resent } from "../src/delivery/state.ts";
import { changeFailed, changePending } from "../src/store/deliveries.ts";
import { forgetDeliveries } from "../src/store/forget.ts";
import { deleteOldest } from "../src/store/stored-bytes.ts";

const NOW = new Date("2026-01-01");
const destinationId = "whd_1";

const database = await createTestDatabase();
const db = openDatabase({ url: database.urls.webhook, name: "test" });
afterAll(async () => {
  await db.end();
  await database.drop();
});

async function insertDelivery(ownerId: string, status: "pending" | "failed"): Promise<void> {
  const [left, due] = status === "pending" ? [4, NOW] : [0, null];
  await db`
    with event as (
      insert into events (owner_id, event_id, event, conversation_id, payload, test, created_at)
      values (${ownerId}, 'evt_1', 'conversation.completed', 'one', '{}', false, ${NOW})
    )
    insert into deliveries (owner_id, delivery_id, destination_id, event_id, conversation_id, status, attempts, attempts_left,
      next_attempt_at, created_at)
    values (${ownerId}, 'dlv_1', ${destinationId}, 'evt_1', 'one', ${status}, 0, ${left}, ${due}, ${NOW})`;
}

/** Runs work that has to wait for an attempt to be stored. */
async function overtaken<T>(ownerId: string, work: () => Promise<T>): Promise<T> {
  let working: Promise<T> | undefined;
  await db.begin(async (tx) => {
    await tx`update deliveries set attempts = attempts + 1 where owner_id = ${ownerId}`;
    await tx`
      insert into attempts (owner_id, delivery_id, number, started_at, duration_ms)
      values (${ownerId}, 'dlv_1', 1, ${NOW}, 1)`;
    working = work();
    await eventually(async () => {
      const waiting = await db`
        select 1 from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;
      expect(waiting).toHaveLength(1);
    });
  });
  return (await working) as T;
}

const statesOf = (sql: Sql, ownerId: string) =>
  sql`select status, attempts, forgotten from deliveries where owner_id = ${ownerId}`;

test("a pending delivery whose attempt ends meanwhile is cancelled", async () => {
  const ownerId = newOwner();
  await insertDelivery(ownerId, "pending");
  expect(await overtaken(ownerId, () => changePending(db, { ownerId, destinationId }, cancelled()))).toBe(1);
  expect([...(await statesOf(db, ownerId))]).toMatchObject([{ status: "cancelled", attempts: 1 }]);
});

test("a failed delivery that changes meanwhile is resent", async () => {
  const ownerId = newOwner();
  await insertDelivery(ownerId, "failed");
  const wanted = { since: new Date(0), after: "" };
  const changed = await overtaken(ownerId, () =>
    changeFailed(db, { ownerId, destinationId }, wanted, resent("standard", NOW)),
  );
  expect(changed).toEqual({ count: 1, last: "dlv_1" });
  expect([...(await statesOf(db, ownerId))]).toMatchObject([{ status: "pending", attempts: 1 }]);
});

test("a delivery whose attempt ends meanwhile is forgotten, and told of as pending", async () => {
  const ownerId = newOwner();
  await insertDelivery(ownerId, "pending");
  const forgotten = await overtaken(ownerId, () => forgetDeliveries(db, ownerId, ["one"], cancelled()));
  expect([...forgotten]).toEqual([{ deliveryId: "dlv_1", destinationId, eventId: "evt_1", wasPending: true }]);
  expect([...(await statesOf(db, ownerId))]).toMatchObject([{ status: "cancelled", attempts: 1, forgotten: true }]);
});

test("making room deletes the delivery whose attempt ends meanwhile with that attempt", async () => {
  const ownerId = newOwner();
  await insertDelivery(ownerId, "pending");
  const part = await overtaken(ownerId, () => deleteOldest(db, ownerId, { after: "", bytes: 1, pendingToo: true }));
  expect(part).toEqual({ events: 1, last: "evt_1", deleted: 1 });
  const left = await db`
    select from events where owner_id = ${ownerId}
    union all select from deliveries where owner_id = ${ownerId}
    union all select from attempts where owner_id = ${ownerId}`;
  expect(left).toHaveLength(0);
});
