import type { Fragment, Sql } from "@parley/shared/db/database";
import { isLongText, textList } from "@parley/shared/db/text-list";
import { enqueueJob } from "@parley/shared/jobs/store";
import { DEFAULT_EVENTS, type EventName } from "@parley/shared/portable/events";
import { activeTraceparent } from "@parley/shared/telemetry/spans";
import type { SessionKey } from "../session-key.ts";
import { ANALYSIS_BYTES_MAX, ESCAPED_BYTES_MAX, PAYLOAD_BYTES_MAX } from "./payload-bounds.ts";
import { RELAY, tellRelay } from "./tell-relay.ts";

interface EventKey {
  ownerId: string;
  eventUuid: string;
}

/** An event that the webhook dispatcher has not accepted yet (0001_conversation). */
export interface EventRow extends EventKey {
  event: EventName;
  /** Null: about no conversation. */
  conversationId: string | null;
  /** The id of a tool call, or the sequence of a message; null otherwise. */
  about: string | null;
  happenedAt: Date;
  /** Of a conversation's end. */
  analysis: "ASKED" | "OVER" | null;
  attempts: number;
  /** W3C trace context of the request that caused it. */
  traceparent: string | null;
}

/** A due event, with what is needed to process it. */
export interface DueEvent extends EventRow {
  /** Whether its payload is stored and within the size limit. */
  isBuilt: boolean;
  /** Upper bound for the bytes of its payload. */
  bytesMax: number;
  /** Null when it is built, or the conversation is gone. */
  agentId: string | null;
  /** Null likewise, or if it tries a draft. */
  agentVersion: number | null;
  /** Whether the user said anything; false of events that are built, or about something else than a conversation's end. */
  hasSaid: boolean;
}

/** An event about a conversation that is there. */
export type UnbuiltEvent = DueEvent & { agentId: string; conversationId: string };

/** Includes the owner, who leads every key. */
export function eventKeyOf({ ownerId, eventUuid }: EventKey): string {
  return `${ownerId} ${eventUuid}`;
}

/** Whether it is the end of a conversation, whose event every owner gets and waits for the analysis. */
export function isEnd({ event }: Pick<EventRow, "event">): boolean {
  return (DEFAULT_EVENTS as readonly EventName[]).includes(event);
}

/** Bounds for the JSON of a message around its text, and of a payload without messages, notes and analysis. */
const MESSAGE_BYTES_MAX = 100;
const FIELDS_BYTES_MAX = 16_384;
/** This many messages alone fill a payload. */
const MESSAGES_MAX = PAYLOAD_BYTES_MAX / MESSAGE_BYTES_MAX;

/** Whether no earlier event of the same conversation is to be sent before. */
const isNext = (sql: Sql) => sql`
  (conversation_id is null or not exists (
    select from owner_events as earlier
    where earlier.owner_id = owner_events.owner_id and earlier.conversation_id = owner_events.conversation_id
      and earlier.event_uuid < owner_events.event_uuid and earlier.due_at < 'infinity'
  ))`;

/** Lists an owner's due events, the longest due first, of each conversation the first only. */
export async function findDueEvents(sql: Sql, ownerId: string, now: Date, limit: number): Promise<DueEvent[]> {
  return sql<DueEvent[]>`
    with due as materialized (
      select owner_id, event_uuid, event, conversation_id, about, happened_at, due_at, analysis, attempts, traceparent,
        payload is not null as is_built, octet_length(payload) as built_bytes, event = any(${[...DEFAULT_EVENTS]}) as is_end
      from owner_events where due_at < 'infinity' and due_at <= ${now} and owner_id = ${ownerId} and ${isNext(sql)}
      order by due_at, event_uuid limit ${limit}
    )
    select owner_id, event_uuid, event, conversation_id, about, happened_at, due.analysis, attempts, traceparent, is_built,
      agent_id, agent_version, coalesce(has_said, false) as has_said,
      case when is_built then built_bytes
        else least(${PAYLOAD_BYTES_MAX}, coalesce(bytes_max, 0) + ${FIELDS_BYTES_MAX})::integer end as bytes_max
    from due left join lateral (
      select agent_id, agent_version,
        is_end and exists (
          select from messages
          where owner_id = due.owner_id and conversation_id = due.conversation_id and role = 'user'
        ) as has_said,
        said_bytes + ${ESCAPED_BYTES_MAX}::integer * coalesce(octet_length(notes), 0)
          + least(coalesce(octet_length(conversations.analysis::text), 0), ${ANALYSIS_BYTES_MAX}) as bytes_max
      from conversations cross join lateral (
        select coalesce(sum(${ESCAPED_BYTES_MAX}::bigint * octet_length(content) + ${MESSAGE_BYTES_MAX}), 0) as said_bytes
        from (
          select content from messages
          where owner_id = due.owner_id and conversation_id = due.conversation_id
          order by seq desc limit ${MESSAGES_MAX}
        ) as newest
      ) as said
      where owner_id = due.owner_id and conversation_id = due.conversation_id and not due.is_built
    ) as source on true
    order by due_at, event_uuid`;
}

/** When an owner's next event is due; null when there is none. */
export async function findNextDueEvent(sql: Sql, ownerId: string): Promise<Date | null> {
  const [row] = await sql<{ dueAt: Date }[]>`
    select due_at from owner_events where owner_id = ${ownerId} and due_at < 'infinity' and ${isNext(sql)}
    order by due_at limit 1`;
  return row?.dueAt ?? null;
}

interface NewEvent {
  ownerId: string;
  event: EventName;
  conversationId: string | null;
  happenedAt: Date;
  /** The sequence of a message. */
  about?: string;
  /** Makes it idempotent; a new one by default. */
  eventUuid?: string;
  /** Built when it is sent, by default. */
  payload?: string;
}

/** Stores an event in the transaction that causes it, if its owner wants it. Not of experiments, or of conversations that are gone. */
export async function insertEvent(tx: Sql, event: NewEvent): Promise<void> {
  const { ownerId, conversationId, happenedAt, about = null, eventUuid = null, payload = null } = event;
  const [row] = await tx<[{ isAdded: boolean }]>`
    select add_event(${ownerId}, ${event.event}, ${conversationId}::uuid, ${about}, ${happenedAt}, ${eventUuid}::uuid,
      ${payload}, ${activeTraceparent() ?? null}) as is_added`;
  if (row.isAdded) tellRelay(tx);
}

/** Defers the ends of conversations until their analysis is stored, at most `waitMs` milliseconds after them. */
export async function awaitAnalyses(sql: Sql, keys: readonly SessionKey[], waitMs: number): Promise<void> {
  await sql`
    update owner_events set analysis = 'ASKED', due_at = happened_at + ${waitMs} * interval '1 millisecond'
    where (owner_id, conversation_id) in (${conversationsOf(sql, keys)}) and event = any(${[...DEFAULT_EVENTS]})`;
}

/**
 * Makes the end of a conversation due, and enqueues its owner's job, once its analysis is stored or given up. For a transaction.
 * @returns whether the event will have the analysis; false if its payload is built, or it was sent
 */
export async function releaseEnd(tx: Sql, { ownerId, conversationId }: SessionKey, now: Date): Promise<boolean> {
  const { count } = await tx`
    update owner_events set analysis = 'OVER', due_at = least(due_at, ${now})
    where owner_id = ${ownerId} and conversation_id = ${conversationId} and event = any(${[...DEFAULT_EVENTS]})
      and payload is null and due_at < 'infinity'`;
  if (count > 0) await enqueueJob(tx, { ownerId, jobId: RELAY, queue: RELAY, payload: {}, dueAt: now });
  return count > 0;
}

/** The stored payloads of events, by `eventKeyOf`. */
export async function readPayloads(sql: Sql, keys: readonly EventKey[]): Promise<Map<string, string>> {
  if (keys.length === 0) return new Map();
  const rows = await sql<(EventKey & { payload: string })[]>`
    select owner_id, event_uuid, payload from owner_events
    where (owner_id, event_uuid) in (${keysOf(sql, keys)}) and payload is not null`;
  return new Map(rows.map((row) => [eventKeyOf(row), row.payload]));
}

/**
 * Stores payloads unless one is stored already, long ones one after the other.
 * @returns the stored payloads, by `eventKeyOf`; none for an event that no longer exists, or whose analysis was stored since it was read
 */
export async function storePayloads(sql: Sql, built: readonly BuiltPayload[]): Promise<Map<string, string>> {
  const short = built.filter(({ payload }) => !isLongText(payload));
  const long = built.filter(({ payload }) => isLongText(payload));
  const stored = short.length > 0 ? await storeTogether(sql, short) : [];
  for (const each of long) stored.push(...(await storeTogether(sql, [each])));
  return new Map(stored);
}

export type BuiltPayload = EventKey & Pick<EventRow, "analysis"> & { payload: string };

async function storeTogether(sql: Sql, built: readonly BuiltPayload[]): Promise<[string, string][]> {
  const given = textList(
    sql,
    built.map(({ payload }) => payload),
  );
  // Returns only the payloads that differ from the given ones.
  const rows = await sql<(EventKey & { other: string | null })[]>`
    update owner_events set payload = coalesce(owner_events.payload, built.payload)
    from unnest(${built.map((event) => event.ownerId)}::text[], ${built.map((event) => event.eventUuid)}::uuid[],
      ${built.map((event) => event.analysis)}::text[], ${given}) as built (owner_id, event_uuid, analysis, payload)
    where owner_events.owner_id = built.owner_id and owner_events.event_uuid = built.event_uuid
      and owner_events.analysis is not distinct from built.analysis
    returning owner_events.owner_id, owner_events.event_uuid, nullif(owner_events.payload, built.payload) as other`;
  const payloads = new Map(built.map((event) => [eventKeyOf(event), event.payload]));
  return rows.map((row) => [eventKeyOf(row), row.other ?? payloads.get(eventKeyOf(row)) ?? ""]);
}

/** Reschedules events after a failed attempt. */
export async function putOffEvents(sql: Sql, events: readonly (EventKey & { until: Date })[]): Promise<void> {
  await sql`
    update owner_events set attempts = attempts + 1, due_at = put_off.until
    from unnest(${events.map((event) => event.ownerId)}::text[], ${events.map((event) => event.eventUuid)}::uuid[],
      ${events.map((event) => event.until.toISOString())}::timestamptz[]) as put_off (owner_id, event_uuid, until)
    where owner_events.owner_id = put_off.owner_id and owner_events.event_uuid = put_off.event_uuid`;
}

/** Stops retrying events; keeps them for inspection until their conversations are deleted. */
export async function giveUpEvents(sql: Sql, keys: readonly EventKey[]): Promise<void> {
  await sql`
    update owner_events set due_at = 'infinity', attempts = attempts + 1
    where (owner_id, event_uuid) in (${keysOf(sql, keys)})`;
}

export async function deleteEvents(sql: Sql, keys: readonly EventKey[]): Promise<void> {
  await sql`delete from owner_events where (owner_id, event_uuid) in (${keysOf(sql, keys)})`;
}

/** Does nothing when a newer revision is stored. @param events beyond those of a conversation's end */
export async function setWantedEvents(
  sql: Sql,
  ownerId: string,
  events: readonly string[],
  revision: number,
): Promise<void> {
  await sql`
    insert into wanted_events (owner_id, events, revision) values (${ownerId}, ${[...events]}, ${revision})
    on conflict (owner_id) do update set events = excluded.events, revision = excluded.revision
      where wanted_events.revision < excluded.revision`;
}

/** Deletes what an owner wants, and the events that are about no conversation. */
export async function forgetEventsOf(tx: Sql, ownerId: string): Promise<void> {
  await tx`delete from wanted_events where owner_id = ${ownerId}`;
  await tx`delete from owner_events where owner_id = ${ownerId} and conversation_id is null`;
}

/** Whether an owner wants to know that conversations begin, as an SQL condition. */
export const wantsStarts = (sql: Sql, ownerId: Fragment) => sql`
  exists (select from wanted_events where wanted_events.owner_id = ${ownerId} and 'conversation.started' = any(events))`;

function keysOf(sql: Sql, keys: readonly EventKey[]) {
  return sql`
    select * from unnest(
      ${keys.map((key) => key.ownerId)}::text[], ${keys.map((key) => key.eventUuid)}::uuid[]
    )`;
}

function conversationsOf(sql: Sql, keys: readonly SessionKey[]) {
  return sql`
    select * from unnest(
      ${keys.map((key) => key.ownerId)}::text[], ${keys.map((key) => key.conversationId)}::uuid[]
    )`;
}
