import type { Database } from "@parley/shared/db/database";

/** Each event may have a payload of 1 MB, and Postgres deletes 400 MB/s. */
export const EVENTS_AT_ONCE = 256;

interface LookedAt {
  /** How many events; fewer than `EVENTS_AT_ONCE` at the end. */
  events: number;
  /** The last one's id. */
  last: string;
  deleted: number;
}

/**
 * Looks at an owner's next `EVENTS_AT_ONCE` events, oldest first, and deletes events with their deliveries and attempts until those have
 * some bytes together: those of which nothing is pending, or any.
 * @param after the id of the last event that was looked at; "" at first
 */
export async function deleteOldest(
  db: Database,
  ownerId: string,
  { after, bytes, pendingToo }: { after: string; bytes: number; pendingToo: boolean },
): Promise<LookedAt> {
  return db.begin(async (tx) => {
    // A plan for these ids hashes them; one for any ids may compare each row of the owner with each id.
    await tx`set local plan_cache_mode = force_custom_plan`;
    const oldest = await tx<{ eventId: string; conversationId: string; bytes: number }[]>`
      select event_id, conversation_id, 500 + coalesce(octet_length(payload), 0) as bytes from events
      where owner_id = ${ownerId} and event_id > ${after}
      order by event_id limit ${EVENTS_AT_ONCE}`;
    // The index of conversations finds them: there is none of events.
    const locked = await tx<{ eventId: string; deliveryId: string; place: string; isPending: boolean }[]>`
      select event_id, delivery_id, ctid::text as place, status = 'pending' as is_pending from deliveries
      where owner_id = ${ownerId} and conversation_id = any(${oldest.map(({ conversationId }) => conversationId)}::text[])
        and event_id = any(${oldest.map(({ eventId }) => eventId)}::text[])
      order by delivery_id for update`;
    const kept = new Set(locked.filter(({ isPending }) => isPending && !pendingToo).map(({ eventId }) => eventId));
    const chosen = new Set<string>();
    let bytesSoFar = 0;
    for (const event of oldest) {
      if (kept.has(event.eventId) || bytesSoFar >= bytes) continue;
      chosen.add(event.eventId);
      bytesSoFar += event.bytes;
    }
    const gone = locked.filter(({ eventId }) => chosen.has(eventId));
    await tx`
      with deliveries_gone as (
        delete from deliveries where ctid = any(${gone.map(({ place }) => place)}::text[]::tid[])
      ), attempts_gone as (
        delete from attempts
        where owner_id = ${ownerId} and delivery_id = any(${gone.map(({ deliveryId }) => deliveryId)}::text[])
      )
      delete from events where owner_id = ${ownerId} and event_id = any(${[...chosen]}::text[])`;
    return { events: oldest.length, last: oldest.at(-1)?.eventId ?? after, deleted: chosen.size };
  }) as Promise<LookedAt>;
}
