import { afterAll, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { createTestDatabase } from "@parley/testkit/database";
import { newOwner } from "@parley/testkit/owners";
import { countingReads } from "@parley/testkit/statement-cost/reads";
import { listOutboundCalls } from "../../src/store/outbound-calls.ts";

const MANY = 3_000;
/** Calls of each number. */
const EACH = 5;

const database = await createTestDatabase();
const db = openDatabase({ url: database.urls.voice, name: "test" });
afterAll(async () => {
  await db.end();
  await database.drop();
});

test("a list of a number's calls reads that number's calls, newest first, and no others of the owner", async () => {
  const ownerId = newOwner();
  await db`
    insert into outbound_calls (owner_id, call_id, conversation_id, agent_id, carrier_id, provider, to_mobile_number,
      from_mobile_number, dynamic_variables, metadata, is_test_call, max_duration_seconds, ring_seconds, status, due_at,
      created_at, ended_at, outcome)
    select ${ownerId}, 'call_' || number, gen_random_uuid(), 'agt_1', 'car_1', 'TWILIO',
      '+4915112' || 100000 + number % ${MANY / EACH}::integer, '+14155550100', '{}', '{}', false, 600, 30, 'ENDED', now(),
      now() + number * interval '1 second', now(), 'SUCCESS'
    from generate_series(1, ${MANY}::integer) as number`;
  await db`analyze outbound_calls`;
  const filter = { ownerId, statuses: [], agentId: "", batchId: "", toMobileNumber: "+4915112100007" };
  const { result, read } = await countingReads(db, "outbound_calls", (within) =>
    listOutboundCalls(within, filter, { number: 1, size: 3 }),
  );
  expect(result.calls.map(({ callId }) => callId)).toEqual(["call_2407", "call_1807", "call_1207"]);
  expect(result.total).toBe(EACH);
  expect(read).toBeLessThanOrEqual(2 * EACH);
});
