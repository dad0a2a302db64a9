import type { Sql } from "@parley/shared/db/database";
import { plainArray } from "@parley/shared/db/plain-array";
import type { DELIVERY_STATUSES } from "@parley/shared/domain/api-names";
import { notFound, ServiceError } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import type { DestinationKey, RequestTypeName } from "./destinations.ts";

export type DeliveryStatusName = keyof typeof DELIVERY_STATUSES;

/** The state of a delivery. */
export interface DeliveryState {
  status: DeliveryStatusName;
  /** Attempts made so far, including those before a resend. */
  attempts: number;
  /** Attempts left before it fails; 0 unless it is pending. */
  attemptsLeft: number;
  /** Null unless it is pending. */
  nextAttemptAt: Date | null;
}

export interface DeliveryKey {
  ownerId: string;
  deliveryId: string;
}

/** Includes the owner because ids are unique only per owner. */
export function keyOf({ ownerId, deliveryId }: DeliveryKey): string {
  return `${ownerId} ${deliveryId}`;
}

/** A pending delivery with everything that an attempt needs. */
export interface PendingDelivery extends DeliveryKey, DeliveryState {
  destinationId: string;
  nextAttemptAt: Date;
  eventId: string;
  event: string;
  /** Null when it is longer than `READ_AHEAD_BYTES_MAX`: it is read when its attempt starts. */
  payload: string | null;
  /** Bytes of the payload. */
  payloadBytes: number;
  /** W3C trace context of the event's origin. */
  traceparent: string | null;
}

/**
 * Longest payload that is read ahead. The lanes of a process together read ahead at most 7,600 deliveries
 * (`delivery/lane.ts`), hence 30 MiB.
 */
const READ_AHEAD_BYTES_MAX = 4096;

interface WantedDeliveries extends DestinationKey {
  limit: number;
  /** Delivery ids to skip. */
  except: readonly string[];
}

/**
 * The next deliveries of several destinations: due ones first, then future ones. Without those whose destination still waits for an
 * earlier event of the same conversation.
 */
export async function listPending(sql: Sql, wanted: readonly WantedDeliveries[]): Promise<PendingDelivery[]> {
  const except = plainArray(wanted.flatMap(({ ownerId, except }) => except.map((id) => `${ownerId}/${id}`)));
  return sql<PendingDelivery[]>`
    select next.owner_id, next.destination_id, next.delivery_id, next.status, next.attempts, next.attempts_left,
      next.next_attempt_at, next.event_id, event, octet_length(payload) as payload_bytes,
      case when octet_length(payload) <= ${READ_AHEAD_BYTES_MAX} then payload end as payload, traceparent
    from unnest(
      ${wanted.map(({ ownerId }) => ownerId)}::text[],
      ${wanted.map(({ destinationId }) => destinationId)}::text[],
      ${wanted.map(({ limit }) => limit)}::integer[]
    ) as wanted (owner_id, destination_id, places)
    cross join lateral (
      select owner_id, destination_id, delivery_id, status, attempts, attempts_left, next_attempt_at, event_id
      from deliveries
      where owner_id = wanted.owner_id and destination_id = wanted.destination_id and status = 'pending'
        and (conversation_id = '' or not exists (
          select from deliveries as earlier
          where earlier.owner_id = wanted.owner_id and earlier.conversation_id = deliveries.conversation_id
            and earlier.destination_id = wanted.destination_id and earlier.status = 'pending'
            and earlier.event_id < deliveries.event_id
        ))
        and owner_id || '/' || delivery_id <> all(${except}::text[])
      order by next_attempt_at, delivery_id limit places
    ) as next
    join events on events.owner_id = next.owner_id and events.event_id = next.event_id
    order by next_attempt_at, delivery_id`;
}

interface EventKey {
  ownerId: string;
  eventId: string;
}

/** The payloads of events, in the order of the keys; null where the payload was removed (forget.ts). */
export async function readPayloads(sql: Sql, keys: readonly EventKey[]): Promise<(string | null)[]> {
  // Keys may repeat: an event may go to several destinations.
  const rows = await sql<(EventKey & { payload: string | null })[]>`
    select owner_id, event_id, payload from events where (owner_id, event_id) in (
      select * from unnest(${keys.map((key) => key.ownerId)}::text[], ${keys.map((key) => key.eventId)}::text[])
    )`;
  const payloads = new Map(rows.map(({ ownerId, eventId, payload }) => [`${ownerId} ${eventId}`, payload]));
  return keys.map(({ ownerId, eventId }) => payloads.get(`${ownerId} ${eventId}`) ?? null);
}

export interface AttemptRow {
  startedAt: Date;
  durationMs: number;
  /** Null when there was no response. */
  httpStatus: number | null;
  /** Null when the response was complete. */
  error: string | null;
  responseExcerpt: string | null;
  /** An `AttemptRequest` as JSON; null when none was made. */
  request: string | null;
}

/** What an attempt sends beside the event and its payload. */
export interface AttemptRequest {
  method: RequestTypeName;
  /** Without the event and payload that a GET appends. */
  url: string;
  headers: Record<string, string>;
}

export interface Ended {
  delivery: DeliveryKey & DeliveryState;
  attempt: AttemptRow;
  next: DeliveryState;
}

/**
 * Attempts of a delivery that the log keeps, the newest: each may have 4 KiB of a response, and a delivery may be resent any number of
 * times. A page of deliveries with all of them has 8 MiB.
 */
export const ATTEMPTS_KEPT = 20;

/**
 * Stores the outcomes of attempts and their deliveries' new states in one statement, and deletes attempts that are kept no longer.
 * Skips deliveries that changed in the meantime.
 * @param ended in order of id, so that concurrent statements lock rows in the same order
 * @returns the keys of the stored deliveries, by `keyOf`
 */
export async function storeEnded(sql: Sql, ended: readonly Ended[]): Promise<Set<string>> {
  const [row] = await sql<{ stored: string | null }[]>`
    with changed as (
      update deliveries
      set status = ended.next_status, attempts = ended.number, attempts_left = ended.next_left,
        next_attempt_at = ended.next_at
      from unnest(
        ${plainArray(ended.map(({ delivery }) => delivery.ownerId))}::text[],
        ${plainArray(ended.map(({ delivery }) => delivery.deliveryId))}::text[],
        ${plainArray(ended.map(({ delivery }) => delivery.status))}::text[],
        ${plainArray(ended.map(({ delivery }) => delivery.attemptsLeft))}::integer[],
        ${plainArray(ended.map(({ next }) => next.attempts))}::integer[],
        ${plainArray(ended.map(({ next }) => next.status))}::text[],
        ${plainArray(ended.map(({ next }) => next.attemptsLeft))}::integer[],
        ${plainArray(ended.map(({ next }) => next.nextAttemptAt?.toISOString() ?? null))}::timestamptz[],
        ${plainArray(ended.map(({ attempt }) => attempt.startedAt.toISOString()))}::timestamptz[],
        ${plainArray(ended.map(({ attempt }) => attempt.durationMs))}::integer[],
        ${plainArray(ended.map(({ attempt }) => attempt.httpStatus))}::integer[],
        ${ended.map(({ attempt }) => attempt.error)}::text[],
        ${ended.map(({ attempt }) => attempt.responseExcerpt)}::text[],
        ${ended.map(({ attempt }) => attempt.request)}::text[]
      ) as ended (owner_id, delivery_id, was_status, was_left, number, next_status, next_left, next_at,
        started_at, duration_ms, http_status, error, response_excerpt, request)
      where deliveries.owner_id = ended.owner_id and deliveries.delivery_id = ended.delivery_id
        and deliveries.status = ended.was_status and deliveries.attempts_left = ended.was_left
        and deliveries.attempts = ended.number - 1
      returning ended.*, forgotten, deliveries.destination_id, deliveries.event_id, deliveries.conversation_id
    ), logged as (
      insert into attempts
        (owner_id, delivery_id, number, started_at, duration_ms, http_status, error, response_excerpt, request)
      select owner_id, delivery_id, number, started_at, duration_ms, http_status, error,
        -- It may quote what was sent (forget.ts).
        case when not forgotten then response_excerpt end, request
      from changed
    ) ${ended.some(({ next }) => next.attempts > ATTEMPTS_KEPT) ? sql`, gone as (${deleteOldAttempts(sql)})` : sql``}
    ${ended.some(({ next }) => next.nextAttemptAt !== null) ? sql`, held as (${holdLaterEvents(sql)})` : sql``}
    -- One text, because the driver takes a microsecond for a row.
    select string_agg(owner_id || ' ' || delivery_id, chr(10)) as stored from changed`;
  return new Set(row?.stored?.split("\n"));
}

/** Left out if there are none, because a plan from when the table was empty compares each attempt with each of `changed`. */
const deleteOldAttempts = (sql: Sql) => sql`
  delete from attempts using changed
  where changed.number > ${ATTEMPTS_KEPT} and attempts.owner_id = changed.owner_id
    and attempts.delivery_id = changed.delivery_id and attempts.number <= changed.number - ${ATTEMPTS_KEPT}`;

/**
 * Later events of the same conversation wait as long as the one that is repeated, so that they do not stand before the due ones, where
 * each read would pass over them.
 */
const holdLaterEvents = (sql: Sql) => sql`
  update deliveries set next_attempt_at = later.next_at
  from (
    select found.owner_id, found.delivery_id, changed.next_at from changed cross join lateral (
      select owner_id, delivery_id from deliveries
      where owner_id = changed.owner_id and conversation_id = changed.conversation_id
        and destination_id = changed.destination_id and status = 'pending' and event_id > changed.event_id
        and next_attempt_at < changed.next_at
      offset 0
    ) as found
    where changed.next_at is not null and changed.conversation_id <> ''
  ) as later
  where deliveries.owner_id = later.owner_id and deliveries.delivery_id = later.delivery_id`;

/** The states of deliveries, by `keyOf`; skips those that no longer exist. */
export async function readStates(
  sql: Sql,
  keys: readonly DeliveryKey[],
): Promise<Map<string, DeliveryKey & DeliveryState>> {
  const rows = await sql<(DeliveryKey & DeliveryState)[]>`
    select owner_id, delivery_id, status, attempts, attempts_left, next_attempt_at
    from deliveries
    join unnest(${keys.map((key) => key.ownerId)}::text[], ${keys.map((key) => key.deliveryId)}::text[])
      as wanted (owner_id, delivery_id) using (owner_id, delivery_id)`;
  return new Map(rows.map((row) => [keyOf(row), row]));
}

// Statements that change several deliveries lock them in order of id, so that they cannot deadlock.

/**
 * The most deliveries that one statement changes, in less than a second. A destination that does not answer may have hundreds of
 * thousands, which take 38 µs each, and a statement has 15 s.
 */
export const CHANGED_AT_ONCE = 10_000;

/** Changes the state of pending deliveries of a destination, at most `CHANGED_AT_ONCE`. @returns the number changed */
export async function changePending(
  sql: Sql,
  { ownerId, destinationId }: DestinationKey,
  { status, attemptsLeft, nextAttemptAt }: Omit<DeliveryState, "attempts">,
): Promise<number> {
  const { count } = await sql`
    with taken as materialized (
      select delivery_id from deliveries
      where owner_id = ${ownerId} and destination_id = ${destinationId} and status = 'pending'
      order by delivery_id limit ${CHANGED_AT_ONCE} for update
    )
    update deliveries set status = ${status}, attempts_left = ${attemptsLeft}, next_attempt_at = ${nextAttemptAt}
    -- The same again up to the last one, because a join may look through all taken ones for each.
    where owner_id = ${ownerId} and destination_id = ${destinationId} and status = 'pending'
      and delivery_id <= (select max(delivery_id) from taken)`;
  return count;
}

/**
 * Changes the state of a destination's failed deliveries created since a time, except forgotten ones: at most `CHANGED_AT_ONCE`, in
 * order of id.
 * @param after the id of the last one that was changed before; "" at first
 * @returns the number changed, and the last one's id
 */
export async function changeFailed(
  sql: Sql,
  { ownerId, destinationId }: DestinationKey,
  { since, after }: { since: Date; after: string },
  { status, attemptsLeft, nextAttemptAt }: Omit<DeliveryState, "attempts">,
): Promise<{ count: number; last: string }> {
  const isWanted = sql`
    owner_id = ${ownerId} and destination_id = ${destinationId} and status = 'failed' and created_at >= ${since}
      and not forgotten and delivery_id > ${after}`;
  const [row] = await sql<{ count: number; last: string | null }[]>`
    with taken as materialized (
      select delivery_id from deliveries where ${isWanted} order by delivery_id limit ${CHANGED_AT_ONCE} for update
    ), changed as (
      update deliveries set status = ${status}, attempts_left = ${attemptsLeft}, next_attempt_at = ${nextAttemptAt}
      where ${isWanted} and delivery_id <= (select max(delivery_id) from taken)
      returning delivery_id
    )
    select count(*)::integer as count, max(delivery_id) as last from changed`;
  return { count: row?.count ?? 0, last: row?.last ?? after };
}

/**
 * Changes the state of an ended delivery.
 * @throws ServiceError condition while it is pending, or when it is forgotten
 */
export async function changeEnded(
  sql: Sql,
  { ownerId, deliveryId }: DeliveryKey,
  { status, attemptsLeft, nextAttemptAt }: Omit<DeliveryState, "attempts">,
): Promise<void> {
  const { count } = await sql`
    update deliveries set status = ${status}, attempts_left = ${attemptsLeft}, next_attempt_at = ${nextAttemptAt}
    where owner_id = ${ownerId} and delivery_id = ${deliveryId} and status <> 'pending'
      and not forgotten`;
  if (count > 0) return;
  const [row] = await sql<{ forgotten: boolean }[]>`
    select forgotten from deliveries where owner_id = ${ownerId} and delivery_id = ${deliveryId}`;
  const why = row?.forgotten
    ? "Delivery cannot be resent: its conversation is past retention and its payload is deleted"
    : "Delivery is still pending: it can be resent after it ends";
  throw new ServiceError("condition", why);
}

/** The destination of a delivery. @throws ServiceError not_found */
export async function getDestinationId(sql: Sql, { ownerId, deliveryId }: DeliveryKey): Promise<string> {
  const [row] = isId("dlv", deliveryId)
    ? await sql<{ destinationId: string }[]>`
        select destination_id from deliveries where owner_id = ${ownerId} and delivery_id = ${deliveryId}`
    : [];
  if (!row) throw notFound("Delivery");
  return row.destinationId;
}
