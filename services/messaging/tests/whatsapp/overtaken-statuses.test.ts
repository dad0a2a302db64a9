import { afterAll, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { newUuid } from "@parley/shared/ids";
import { createTestDatabase } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import { insertOutgoing, markSent, storeStatuses } from "../../src/store/outgoing.ts";

const database = await createTestDatabase();
const db = openDatabase({ url: database.urls.messaging, name: "test" });
afterAll(async () => {
  await db.end();
  await database.drop();
});

test("a status that comes while its message is being marked as sent is stored", async () => {
  const [ownerId, messageId, conversationId] = [newOwner(), newUuid(), newUuid()];
  const now = new Date();
  const thread = { ownerId, carrierId: "car_1", contact: "4916", channel: "whatsapp" };
  const message = { ...thread, messageId, conversationId, agentId: "agt_1", sequence: 1, giveUpAt: now };
  await insertOutgoing(db, [{ ...message, content: { type: "text", text: "Hi" } }], now);
  const status = { externalId: "wamid.1", messageId, status: "delivered" as const, errorCode: null };
  let storing: Promise<readonly unknown[]> | undefined;
  await db.begin(async (tx) => {
    await markSent(tx, { ownerId, messageId }, "wamid.1");
    storing = db.begin((other) => storeStatuses(other, thread, [status]));
    await eventually(async () => {
      const waiting = await db`
        select 1 from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;
      expect(waiting).toHaveLength(1);
    });
  });
  expect([...((await storing) ?? [])]).toEqual([{ contact: "4916", conversationId, sequence: 1 }]);
  const stored = await db`select external_id, delivery, state from outgoing_messages where owner_id = ${ownerId}`;
  expect([...stored]).toEqual([{ externalId: "wamid.1", delivery: "delivered", state: "sent" }]);
});
