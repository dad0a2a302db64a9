import { afterAll, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import { acceptor } from "../src/accept.ts";
import { readEvent } from "../src/rules.ts";
import type { EventRow } from "../src/store/events.ts";
import { ended, newDestination, newEvent, startTestDispatcher } from "./kit.ts";
import { startReceiver } from "./receiver.ts";

const service = await startTestDispatcher();
const db = openDatabase({ url: service.env.DATABASE_URL ?? "", name: "test", max: 4 });
afterAll(async () => {
  await db.end();
  await service.stop();
});

const eventOf = (ownerId: string, payload = "{}"): EventRow => readEvent(newEvent(ownerId, { payload }));

test("calls that wait for their owner's statement share the next one, and an event in two of them is delivered once", async () => {
  await using receiver = startReceiver();
  const { ownerId, destinationId } = await newDestination(service.client, receiver.url);
  const other = await newDestination(service.client, receiver.url, { ownerId: newOwner() });
  const accept = acceptor(db, () => new Date());
  const repeated = eventOf(ownerId);
  const long = Array.from({ length: 3 }, () => eventOf(ownerId, JSON.stringify("x".repeat(600 * 1024))));
  const calls = await service.sql.begin(async (tx) => {
    // The first statement asks for the same job.
    await tx`
      insert into jobs (owner_id, job_id, queue, payload, due_at)
      values (${ownerId}, ${destinationId}, 'deliver', '{}', 'infinity')`;
    const first = accept([eventOf(ownerId)]);
    await eventually(async () => {
      const blocked = await db`
        select pid from pg_stat_activity
        where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;
      expect(blocked).toHaveLength(1);
    });
    const short = Array.from({ length: 20 }, () => [eventOf(ownerId)]);
    const later = [...short, [repeated], [repeated, ...long]].map(accept);
    // Read in the same statement as theirs, this owner's destinations are known when they wait.
    await accept([eventOf(other.ownerId)]);
    return [first, ...later];
  });
  await Promise.all(calls);
  const statements = await db<{ events: number }[]>`
    select count(*)::integer as events from events where owner_id = ${ownerId} group by xmin::text order by min(event_id)`;
  expect(statements.map(({ events }) => events).toSorted((a, b) => a - b)).toEqual([1, 1, 1, 1, 21]);
  await ended(service.client, ownerId, 25);
  expect(receiver.received.filter(({ headers }) => headers["webhook-id"] === repeated.eventId)).toHaveLength(1);
});

test("an error of a statement fails the calls in it, and the owner's next call is stored", async () => {
  await using receiver = startReceiver();
  const { ownerId } = await newDestination(service.client, receiver.url);
  const accept = acceptor(db, () => new Date());
  const unstorable = { ...eventOf(ownerId), payload: "\0" };
  await expect(accept([unstorable, eventOf(ownerId)])).rejects.toThrow("invalid byte sequence");
  await accept([eventOf(ownerId)]);
  expect(await ended(service.client, ownerId)).toHaveLength(1);
});
