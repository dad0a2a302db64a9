import { expect } from "bun:test";
import type { OwnerEvent } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import type { EventName } from "@parley/shared/portable/events";
import { eventually } from "@parley/testkit/eventually";
import { tellWorkers } from "@parley/testkit/jobs";
import type postgres from "postgres";
import type { FakeDispatcher } from "./fake-dispatcher.ts";
import { say, type TestAgent, type TestChat } from "./kit.ts";

export type TestEvents = Pick<TestChat, "clock" | "dispatcher" | "sql">;

/** The events of a conversation, accepted or not. */
export function eventsOf({ events }: FakeDispatcher, conversationId: string): OwnerEvent[] {
  return events.filter((event) => event.conversationId === conversationId);
}

let revision = 0;

/** Makes an owner want events beyond the ends of conversations. */
export async function want({ chat }: Pick<TestChat, "chat">, ownerId: string, ...events: EventName[]): Promise<void> {
  await chat.setWantedEvents({ ownerId, events, revision: ++revision });
}

/** The first event of a conversation, once it has come. */
export function eventOf({ dispatcher }: TestEvents, conversationId: string): Promise<OwnerEvent> {
  return eventually(() => {
    const [event] = eventsOf(dispatcher, conversationId);
    if (!event) throw new Error("no event came");
    return event;
  });
}

// biome-ignore lint/suspicious/noExplicitAny: tests assert on it field by field
export function payloadOf(event: OwnerEvent | undefined): any {
  return JSON.parse(event?.payload ?? "null");
}

/**
 * Lets time pass and wakes the jobs. Waits until no job runs, because the lease of a running one would
 * end and a second run would begin beside it; a lease that the test gave no end does not count.
 */
export async function pass({ clock, sql }: Pick<TestEvents, "clock" | "sql">, ms: number): Promise<void> {
  await eventually(() =>
    sql.begin(async (tx) => {
      // Locked, so that none is claimed before the time has passed.
      const jobs = await tx<{ queue: string; runs: boolean | null }[]>`
        select queue, leased_until < 'infinity' as runs from jobs order by owner_id, job_id for update`;
      expect(jobs.filter(({ runs }) => runs).map(({ queue }) => queue)).toEqual([]);
      clock.advance(ms);
      await tellWorkers(tx);
    }),
  );
}

/** Waits until every event has been accepted. */
export async function allSent(sql: postgres.Sql, withinMs?: number): Promise<void> {
  await eventually(() => noneWaits(sql), withinMs);
}

/** The same while time passes, half a minute at a time, and until nothing is left of any analysis either. */
export async function allSentLater(service: TestEvents): Promise<void> {
  await eventually(async () => {
    await pass(service, 30_000);
    await noneWaits(service.sql);
    expect(await service.sql`select 1 from jobs where queue = 'analyze-conversations'`).toHaveLength(0);
  });
}

async function noneWaits(sql: postgres.Sql): Promise<void> {
  const [row] = await sql<[{ waiting: number }]>`select count(*)::integer as waiting from owner_events`;
  expect(row.waiting).toBe(0);
}

/** A chat that its model ends: its session id. */
export async function endedChat(service: TestChat, agent: TestAgent, message = "Goodbye"): Promise<string> {
  const { script } = service.model;
  service.model.script = (call) => (call.body.tools ? call.callTool("end_call", "{}", "Bye.") : script(call));
  const { sessionId } = await say(service, agent, message);
  service.model.script = script;
  return sessionId;
}
