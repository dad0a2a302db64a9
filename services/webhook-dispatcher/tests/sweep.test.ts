import { afterAll, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { newOwner } from "@parley/testkit/owners";
import { deleteOldEvents } from "../src/store/events.ts";
import { startTestDispatcher } from "./kit.ts";

const service = await startTestDispatcher();
const db = openDatabase({ url: service.env.DATABASE_URL ?? "", name: "test", max: 1 });
afterAll(async () => {
  await db.end();
  await service.stop();
});

test("old events, forgotten ones too, are deleted in batches bounded by their payloads, a larger one by itself", async () => {
  const ownerId = newOwner();
  // Too new for the service's own sweep.
  const [old, now] = [new Date(Date.now() - 60_000), new Date()];
  const lengths = [600, 600, 5_000, null, null, 100];
  await service.sql`
    insert into events (owner_id, event_id, event, conversation_id, payload, test, created_at)
    select ${ownerId}, 'evt_' || at, 'e', 'c', repeat('x', length), false, ${old}
    from unnest(${lengths}::integer[]) with ordinality as given (length, at)`;
  const deleted: number[] = [];
  do deleted.push(await deleteOldEvents(db, now, 4, 1_000));
  while (deleted.at(-1) !== 0);
  expect(deleted).toEqual([2, 1, 3, 0]);
});
