import type { Sql } from "@parley/shared/db/database";
import type { SessionKey } from "./turns.ts";

/** The event of an ended conversation that the webhook dispatcher does not have yet (0005_conversation_events). */
export interface EventRow extends SessionKey {
  eventUuid: string;
  /** conversation.completed and so on. */
  event: string;
  endedAt: Date;
  awaitsAnalysis: boolean;
  payload: string | null;
  attempts: number;
  /** W3C trace context of what ended the conversation. */
  traceparent: string | null;
}

/** Those that are due, the longest due first. */
export async function findDueEvents(sql: Sql, now: Date, limit: number): Promise<EventRow[]> {
  return sql<EventRow[]>`
    select owner_id, conversation_id, event_uuid, event, ended_at, awaits_analysis, payload, attempts, traceparent
    from conversation_events where due_at <= ${now} order by due_at limit ${limit}`;
}

/** When the next one is due, if there is any. */
export async function findNextDueEvent(sql: Sql): Promise<Date | null> {
  const [row] = await sql<{ dueAt: Date }[]>`
    select due_at from conversation_events where due_at < 'infinity' order by due_at limit 1`;
  return row?.dueAt ?? null;
}

/** Leaves events until their analysis is there, for at most so many milliseconds after the end. */
export async function awaitAnalyses(sql: Sql, keys: readonly SessionKey[], waitMs: number): Promise<void> {
  await sql`
    update conversation_events set awaits_analysis = true, due_at = ended_at + ${waitMs} * interval '1 millisecond'
    where (owner_id, conversation_id) in (${keysOf(sql, keys)})`;
}

/** An analysis has come, or will not: its event waits no longer. */
export async function releaseEvent(sql: Sql, { ownerId, conversationId }: SessionKey, now: Date): Promise<void> {
  await sql`
    with released as (
      update conversation_events set due_at = ${now}
      where owner_id = ${ownerId} and conversation_id = ${conversationId} and payload is null and due_at > ${now}
      returning 1
    )
    select wake_event_relay(${now}) from released`;
}

/** Stores what the events send from now on, unless that is stored already. @returns what is stored, by conversation id */
export async function storePayloads(
  sql: Sql,
  built: readonly (SessionKey & { payload: string })[],
): Promise<Map<string, string>> {
  const rows = await sql<{ conversationId: string; payload: string }[]>`
    update conversation_events set payload = coalesce(conversation_events.payload, built.payload)
    from unnest(${built.map((event) => event.ownerId)}::text[], ${built.map((event) => event.conversationId)}::uuid[],
      ${built.map((event) => event.payload)}::text[]) as built (owner_id, conversation_id, payload)
    where conversation_events.owner_id = built.owner_id and conversation_events.conversation_id = built.conversation_id
    returning conversation_events.conversation_id, conversation_events.payload`;
  return new Map(rows.map((row) => [row.conversationId, row.payload]));
}

/** An attempt failed. */
export async function putOffEvents(sql: Sql, events: readonly (SessionKey & { until: Date })[]): Promise<void> {
  await sql`
    update conversation_events set attempts = attempts + 1, due_at = put_off.until
    from unnest(${events.map((event) => event.ownerId)}::text[], ${events.map((event) => event.conversationId)}::uuid[],
      ${events.map((event) => event.until.toISOString())}::timestamptz[]) as put_off (owner_id, conversation_id, until)
    where conversation_events.owner_id = put_off.owner_id
      and conversation_events.conversation_id = put_off.conversation_id`;
}

/** They are tried no more, and kept to be looked at until their conversations go. */
export async function giveUpEvents(sql: Sql, keys: readonly SessionKey[]): Promise<void> {
  await sql`
    update conversation_events set due_at = 'infinity', attempts = attempts + 1
    where (owner_id, conversation_id) in (${keysOf(sql, keys)})`;
}

export async function deleteEvents(sql: Sql, keys: readonly SessionKey[]): Promise<void> {
  await sql`delete from conversation_events where (owner_id, conversation_id) in (${keysOf(sql, keys)})`;
}

function keysOf(sql: Sql, keys: readonly SessionKey[]) {
  return sql`
    select * from unnest(${keys.map((key) => key.ownerId)}::text[], ${keys.map((key) => key.conversationId)}::uuid[])`;
}
