import { firstTexts } from "@parley/testkit/statement-cost/filled-tables";
import { NOW, ROWS, type Statement, testOldPlans } from "@parley/testkit/statement-cost/old-plans";
import { cancelled, resent } from "../src/delivery/state.ts";
import { changeFailed, changePending, type Ended, storeEnded } from "../src/store/deliveries.ts";
import { deleteOldDeliveries, deleteOldEvents } from "../src/store/events.ts";
import { forgetDeliveries } from "../src/store/forget.ts";
import { listDeliveryRows } from "../src/store/list-deliveries.ts";
import { deleteOldest } from "../src/store/stored-bytes.ts";

const destinationId = "whd_1";
const FAILED = { destination_id: "'whd_1'", status: "'failed'", attempts_left: "0" };
const PENDING = { destination_id: "'whd_1'", status: "'pending'", next_attempt_at: "at" };
/** Each with a delivery, which has an attempt. */
const LOG = { events: {}, deliveries: FAILED, attempts: {} };

function delivered(ownerId: string, deliveryId: string): Ended {
  return {
    delivery: { ownerId, deliveryId, status: "pending", attempts: 1, attemptsLeft: 1, nextAttemptAt: NOW },
    attempt: { startedAt: NOW, durationMs: 1, httpStatus: 200, error: null, responseExcerpt: null, request: null },
    next: { status: "delivered", attempts: 2, attemptsLeft: 0, nextAttemptAt: null },
  };
}

const STATEMENTS: Statement[] = [
  {
    name: "deleteOldDeliveries",
    tables: { deliveries: FAILED, attempts: {} },
    run: async (db) => {
      const deleted = await deleteOldDeliveries(db, NOW, 300);
      const [row] = await db<{ left: number }[]>`select count(*) as left from attempts where started_at < ${NOW}`;
      return [deleted, row?.left];
    },
    expected: [300, ROWS - 300],
  },
  {
    name: "deleteOldEvents",
    tables: { events: {} },
    run: (db) => deleteOldEvents(db, NOW, 300, 2 ** 30),
    expected: 300,
  },
  {
    name: "storeEnded",
    tables: { deliveries: PENDING, attempts: { delivery_id: "'dlv_' || n" } },
    run: async (db, ownerId) =>
      (
        await storeEnded(
          db,
          firstTexts(300).map((id) => delivered(ownerId, id)),
        )
      ).size,
    expected: 300,
  },
  {
    name: "changePending",
    tables: { deliveries: PENDING },
    run: (db, ownerId) => changePending(db, { ownerId, destinationId }, cancelled()),
    expected: ROWS,
  },
  {
    name: "changeFailed",
    tables: { deliveries: FAILED },
    run: async (db, ownerId) =>
      (await changeFailed(db, { ownerId, destinationId }, { since: new Date(0), after: "" }, resent("standard", NOW)))
        .count,
    expected: ROWS,
  },
  {
    name: "forgetDeliveries",
    tables: { deliveries: PENDING },
    run: async (db, ownerId) =>
      (await forgetDeliveries(db, ownerId, firstTexts(200), cancelled())).filter((each) => each.wasPending).length,
    expected: 200,
  },
  {
    name: "deleteOldest",
    tables: LOG,
    run: async (db, ownerId) =>
      (await deleteOldest(db, ownerId, { after: "", bytes: 2 ** 30, pendingToo: false })).deleted,
    expected: 256,
  },
  {
    name: "listDeliveryRows",
    tables: LOG,
    run: async (db, ownerId) => {
      const filter = { ownerId, destinationId: null, conversationId: null, status: null };
      const { rows } = await listDeliveryRows(db, filter, { number: 1, size: 100 });
      return rows.length;
    },
    expected: 100,
  },
];

testOldPlans("webhook", STATEMENTS);
