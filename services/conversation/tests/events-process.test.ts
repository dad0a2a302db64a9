import { afterAll, afterEach, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { makeDue } from "@parley/testkit/jobs";
import { newOwner } from "@parley/testkit/owners";
import { endChats, openChats, startAlone } from "./alone-kit.ts";
import { allSent, eventsOf } from "./events-kit.ts";

const TIMEOUT_MS = 120_000;

const service = await startAlone();
afterAll(() => service.stop());

afterEach(async () => {
  service.dispatcher.accept = () => {};
  await service.rest();
});

test("another process takes over from one killed while sending, and every event still arrives", async () => {
  const { sql, dispatcher } = service;
  const first = await service.start();
  const ids = await openChats(sql, newOwner(), 120);
  const under = Promise.withResolvers<void>();
  dispatcher.accept = () => {
    under.resolve();
    // Every call in progress hangs, so the process does not know whether its events were accepted.
    return new Promise(() => {});
  };
  expect(await endChats(sql, ids)).toBe(120);
  await under.promise;
  await first.stop("SIGKILL");
  dispatcher.accept = () => {};
  await service.start();
  await allSent(sql, TIMEOUT_MS / 2);
  for (const id of ids) {
    const [event, ...repeated] = eventsOf(dispatcher, id);
    expect(event?.eventId).toMatch(/^evt_/);
    for (const again of repeated) expect(again).toEqual(event as typeof again);
  }
});

test("a database outage loses no event", async () => {
  const { sql, dispatcher } = service;
  await service.start();
  const ids = await openChats(sql, newOwner(), 60);
  let isFirst = true;
  dispatcher.accept = async () => {
    if (!isFirst) return;
    isFirst = false;
    // Ends the service's connections, and with them whatever it was about to store.
    await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'parley-conversation'`;
  };
  await endChats(sql, ids);
  await allSent(sql, TIMEOUT_MS / 2);
  for (const id of ids) expect(new Set(eventsOf(dispatcher, id).map((event) => event.payload)).size).toBe(1);
});

test("with two processes, 800 conversations that end concurrently send one event each", async () => {
  const { sql, dispatcher } = service;
  await Promise.all([service.start(), service.start()]);
  const ownerId = newOwner();
  const ids = await openChats(sql, ownerId, 800);
  const waiting = [...ids];
  const endOneByOne = async () => {
    for (let id = waiting.pop(); id; id = waiting.pop()) await endChats(sql, [id]);
  };
  await Promise.all(Array.from({ length: 4 }, endOneByOne));
  await allSent(sql, TIMEOUT_MS / 2);
  const events = dispatcher.events.filter((event) => event.ownerId === ownerId);
  expect(events.map((event) => event.conversationId).toSorted()).toEqual(ids.toSorted());
  expect(new Set(events.map((event) => event.eventId)).size).toBe(800);
});

function came(conversationId: string): Promise<void> {
  return eventually(() => expect(eventsOf(service.dispatcher, conversationId)).not.toEqual([]));
}

test("events that may need an analysis wait while agents cannot be read; others are sent", async () => {
  const { sql } = service;
  await service.start();
  const ownerId = newOwner();
  const [said = ""] = await openChats(sql, ownerId, 1, { said: true });
  const [silent = ""] = await openChats(sql, ownerId, 1);
  await endChats(sql, [said]);
  await endChats(sql, [silent]);
  await came(silent);
  const [waiting] = await sql`
    select analysis, due_at - happened_at as wait from owner_events where conversation_id = ${said}`;
  expect(waiting).toMatchObject({ analysis: "ASKED", wait: "00:01:00" });
  await sql`update owner_events set due_at = now()`;
  await makeDue(sql, "relay-events");
  await came(said);
});
