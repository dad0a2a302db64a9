import type { Sql } from "@parley/shared/db/database";
import { isLongText, textList } from "@parley/shared/db/text-list";
import { enqueueJob } from "@parley/shared/jobs/store";
import { ANALYSIS_BYTES_MAX, ESCAPED_BYTES_MAX, PAYLOAD_BYTES_MAX } from "./payload-bounds.ts";
import { keyOf } from "./payload-sources.ts";
import type { SessionKey } from "./session-key.ts";
import { RELAY } from "./tell-relay.ts";

/** The event of an ended conversation that the webhook dispatcher has not accepted yet (0001_conversation). */
export interface EventRow extends SessionKey {
  eventUuid: string;
  /** For example conversation.completed. */
  event: string;
  endedAt: Date;
  awaitsAnalysis: boolean;
  attempts: number;
  /** W3C trace context of the request that ended the conversation. */
  traceparent: string | null;
}

/** A due event, with what is needed to process it. */
export interface DueEvent extends EventRow {
  /** Whether its payload is stored and within the size limit. */
  isBuilt: boolean;
  /** Upper bound for the bytes of its payload. */
  bytesMax: number;
  /** Null when the conversation is gone. */
  agentId: string | null;
  /** Whether the user said anything. */
  hasSaid: boolean;
}

/** Bounds for the JSON of a message around its text, and of a payload without messages, notes and analysis. */
const MESSAGE_BYTES_MAX = 100;
const FIELDS_BYTES_MAX = 16_384;
/** This many messages alone fill a payload. */
const MESSAGES_MAX = PAYLOAD_BYTES_MAX / MESSAGE_BYTES_MAX;

/** Lists an owner's due events, the longest due first. */
export async function findDueEvents(sql: Sql, ownerId: string, now: Date, limit: number): Promise<DueEvent[]> {
  return sql<DueEvent[]>`
    with due as materialized (
      select owner_id, conversation_id, event_uuid, event, ended_at, due_at, awaits_analysis, attempts, traceparent,
        payload is not null as is_built, octet_length(payload) as built_bytes
      from conversation_events where due_at < 'infinity' and due_at <= ${now} and owner_id = ${ownerId}
      order by due_at, conversation_id limit ${limit}
    )
    select owner_id, conversation_id, event_uuid, event, ended_at, awaits_analysis, attempts, traceparent, is_built,
      agent_id, coalesce(has_said, false) as has_said,
      case when is_built then built_bytes
        else least(${PAYLOAD_BYTES_MAX}, coalesce(bytes_max, 0) + ${FIELDS_BYTES_MAX})::integer end as bytes_max
    from due left join lateral (
      select agent_id,
        exists (
          select from messages
          where owner_id = due.owner_id and conversation_id = due.conversation_id and role = 'user'
        ) as has_said,
        said_bytes + ${ESCAPED_BYTES_MAX}::integer * coalesce(octet_length(notes), 0)
          + least(coalesce(octet_length(analysis::text), 0), ${ANALYSIS_BYTES_MAX}) as bytes_max
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
    order by due_at, conversation_id`;
}

/** When an owner's next event is due; null when there is none. */
export async function findNextDueEvent(sql: Sql, ownerId: string): Promise<Date | null> {
  const [row] = await sql<{ dueAt: Date }[]>`
    select due_at from conversation_events where owner_id = ${ownerId} and due_at < 'infinity' order by due_at limit 1`;
  return row?.dueAt ?? null;
}

/** Defers events until their analysis is stored, at most `waitMs` milliseconds after the conversation's end. */
export async function awaitAnalyses(sql: Sql, keys: readonly SessionKey[], waitMs: number): Promise<void> {
  await sql`
    update conversation_events set awaits_analysis = true, due_at = ended_at + ${waitMs} * interval '1 millisecond'
    where (owner_id, conversation_id) in (${keysOf(sql, keys)})`;
}

/** Makes an event due, and enqueues its owner's job, once its analysis is stored or given up. For a transaction. */
export async function releaseEvent(tx: Sql, { ownerId, conversationId }: SessionKey, now: Date): Promise<void> {
  const { count } = await tx`
    update conversation_events set due_at = ${now}
    where owner_id = ${ownerId} and conversation_id = ${conversationId} and payload is null and due_at > ${now}`;
  if (count > 0) await enqueueJob(tx, { ownerId, jobId: RELAY, queue: RELAY, payload: {}, dueAt: now });
}

/** The stored payloads of events, by `keyOf`. */
export async function readPayloads(sql: Sql, keys: readonly SessionKey[]): Promise<Map<string, string>> {
  if (keys.length === 0) return new Map();
  const rows = await sql<(SessionKey & { payload: string })[]>`
    select owner_id, conversation_id, payload from conversation_events
    where (owner_id, conversation_id) in (${keysOf(sql, keys)}) and payload is not null`;
  return new Map(rows.map((row) => [keyOf(row), row.payload]));
}

/**
 * Stores payloads unless one is stored already, long ones one after the other.
 * @returns the stored payloads, by `keyOf`; none for an event that no longer exists
 */
export async function storePayloads(sql: Sql, built: readonly BuiltPayload[]): Promise<Map<string, string>> {
  const short = built.filter(({ payload }) => !isLongText(payload));
  const long = built.filter(({ payload }) => isLongText(payload));
  const stored = short.length > 0 ? await storeTogether(sql, short) : [];
  for (const each of long) stored.push(...(await storeTogether(sql, [each])));
  return new Map(stored);
}

type BuiltPayload = SessionKey & { payload: string };

async function storeTogether(sql: Sql, built: readonly BuiltPayload[]): Promise<[string, string][]> {
  const given = textList(
    sql,
    built.map(({ payload }) => payload),
  );
  // Returns only the payloads that differ from the given ones.
  const rows = await sql<(SessionKey & { other: string | null })[]>`
    update conversation_events set payload = coalesce(conversation_events.payload, built.payload)
    from unnest(${built.map((event) => event.ownerId)}::text[], ${built.map((event) => event.conversationId)}::uuid[], ${given})
      as built (owner_id, conversation_id, payload)
    where conversation_events.owner_id = built.owner_id and conversation_events.conversation_id = built.conversation_id
    returning conversation_events.owner_id, conversation_events.conversation_id,
      nullif(conversation_events.payload, built.payload) as other`;
  const payloads = new Map(built.map((event) => [keyOf(event), event.payload]));
  return rows.map((row) => [keyOf(row), row.other ?? payloads.get(keyOf(row)) ?? ""]);
}

/** Reschedules events after a failed attempt. */
export async function putOffEvents(sql: Sql, events: readonly (SessionKey & { until: Date })[]): Promise<void> {
  await sql`
    update conversation_events set attempts = attempts + 1, due_at = put_off.until
    from unnest(${events.map((event) => event.ownerId)}::text[], ${events.map((event) => event.conversationId)}::uuid[],
      ${events.map((event) => event.until.toISOString())}::timestamptz[]) as put_off (owner_id, conversation_id, until)
    where conversation_events.owner_id = put_off.owner_id
      and conversation_events.conversation_id = put_off.conversation_id`;
}

/** Stops retrying events; keeps them for inspection until their conversations are deleted. */
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
    select * from unnest(
      ${keys.map((key) => key.ownerId)}::text[], ${keys.map((key) => key.conversationId)}::uuid[]
    )`;
}
