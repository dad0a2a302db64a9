import type { Database, Sql } from "@parley/shared/db/database";
import { plainArray } from "@parley/shared/db/plain-array";
import { newId } from "@parley/shared/ids";
import { announce } from "@parley/shared/jobs/announce";
import { enqueueing } from "@parley/shared/jobs/store";
import type { EventName } from "@parley/shared/portable/events";
import type { DeliveryState } from "./deliveries.ts";

/**
 * Separates the payloads in one text: no JSON text contains it unescaped. In an array, the client would escape each of
 * their quotes and Postgres would parse them again: 10 µs more for 1.5 KB.
 */
export const PAYLOAD_SEPARATOR = "\x1f";

export interface EventRow {
  ownerId: string;
  eventId: string;
  event: EventName;
  /** Empty if it is about no conversation. */
  conversationId: string;
  /** JSON, without `PAYLOAD_SEPARATOR` and not empty. */
  payload: string;
  /** A test event, without a conversation. */
  test: boolean;
  /** W3C trace context of the event's origin. */
  traceparent: string | null;
}

interface NewDelivery {
  event: EventRow;
  destinationId: string;
  deliveryId: string;
  state: DeliveryState;
}

export function newDeliveryOf(event: EventRow, destinationId: string, state: DeliveryState): NewDelivery {
  return { event, destinationId, deliveryId: newId("dlv"), state };
}

/**
 * Inserts events with their deliveries and enqueues a job of `queue` for each destination, in one statement,
 * so that concurrent inserts for the same destinations wait only for its commit. Leaves existing events unchanged.
 * @param deliveries only those of these events
 */
export async function insertEvents(
  sql: Sql,
  events: readonly EventRow[],
  deliveries: readonly NewDelivery[],
  queue: string,
  now: Date,
): Promise<void> {
  const asked = sql`
    select distinct owner_id, destination_id as job_id, ${queue} as queue, '{}' as payload, ${now}::timestamptz as due_at
    from made`;
  await sql`
    with stored as (
      insert into events (owner_id, event_id, event, conversation_id, payload, test, traceparent, created_at)
      select owner_id, event_id, event, conversation_id, payload, test, traceparent, ${now}
      from unnest(
        ${plainArray(events.map((event) => event.ownerId))}::text[],
        ${plainArray(events.map((event) => event.eventId))}::text[],
        ${events.map((event) => event.event)}::text[],
        ${events.map((event) => event.conversationId)}::text[],
        string_to_array(${events.map((event) => event.payload).join(PAYLOAD_SEPARATOR)}, ${PAYLOAD_SEPARATOR}),
        ${plainArray(events.map((event) => String(event.test)))}::boolean[],
        ${events.map((event) => event.traceparent)}::text[]
      ) as given (owner_id, event_id, event, conversation_id, payload, test, traceparent)
      order by owner_id, event_id
      on conflict (owner_id, event_id) do nothing
      returning owner_id, event_id, conversation_id
    ), made as (
      insert into deliveries
        (owner_id, delivery_id, destination_id, event_id, conversation_id, status, attempts, attempts_left,
         next_attempt_at, created_at)
      select owner_id, delivery_id, destination_id, event_id, conversation_id,  status, attempts, attempts_left,
        next_attempt_at, ${now}
      from unnest(
        ${plainArray(deliveries.map(({ event }) => event.ownerId))}::text[],
        ${plainArray(deliveries.map(({ event }) => event.eventId))}::text[],
        ${plainArray(deliveries.map(({ destinationId }) => destinationId))}::text[],
        ${plainArray(deliveries.map(({ deliveryId }) => deliveryId))}::text[],
        ${plainArray(deliveries.map(({ state }) => state.status))}::text[],
        ${plainArray(deliveries.map(({ state }) => state.attempts))}::integer[],
        ${plainArray(deliveries.map(({ state }) => state.attemptsLeft))}::integer[],
        ${plainArray(deliveries.map(({ state }) => state.nextAttemptAt?.toISOString() ?? null))}::timestamptz[]
      ) as given (owner_id, event_id, destination_id, delivery_id, status, attempts, attempts_left, next_attempt_at)
      join stored using (owner_id, event_id)
      returning owner_id, destination_id
    )
    ${enqueueing(sql, asked)}`;
  announce(sql, [queue]);
}

/** Deletes deliveries from before a time, with their attempts, up to `limit`. @returns the number deleted */
export async function deleteOldDeliveries(db: Database, before: Date, limit: number): Promise<number> {
  return db.begin(async (tx) => {
    // A plan for these deliveries looks up their attempts; one for any compares each attempt with each of them.
    await tx`set local plan_cache_mode = force_custom_plan`;
    const gone = await tx<{ ownerId: string; deliveryId: string }[]>`
      delete from deliveries where ctid = any(array(
        select ctid from deliveries where created_at < ${before} limit ${limit} for update skip locked
      ))
      returning owner_id, delivery_id`;
    await tx`
      delete from attempts using unnest(
        ${gone.map(({ ownerId }) => ownerId)}::text[], ${gone.map(({ deliveryId }) => deliveryId)}::text[]
      ) as gone (owner_id, delivery_id)
      where attempts.owner_id = gone.owner_id and attempts.delivery_id = gone.delivery_id`;
    return gone.length;
  }) as Promise<number>;
}

/**
 * Deletes events from before a time: at least one, and more up to `limit` and `bytesMax` of payloads.
 * @returns the number deleted
 */
export async function deleteOldEvents(sql: Sql, before: Date, limit: number, bytesMax: number): Promise<number> {
  const { count } = await sql`
    with old as materialized (
      select ctid, coalesce(octet_length(payload), 0) as bytes from events
      where created_at < ${before} limit ${limit} for update skip locked
    )
    delete from events where ctid = any(array(
      select ctid from (
        select ctid, sum(bytes) over (rows unbounded preceding) - bytes as bytes_before from old
      ) as summed
      where bytes_before < ${bytesMax}
    ))`;
  return count;
}
