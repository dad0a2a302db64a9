import type { Sql } from "@parley/shared/db/database";
import type { CountedRows } from "@parley/shared/stored-bytes/fold";

/** As the triggers of 0006_event_bytes count. */
export const EVENTS: CountedRows = {
  bytes: (sql, ownerId) => sql`
    select sum(500 + coalesce(octet_length(payload), 0)) as bytes from events where owner_id = ${ownerId}
    union all select 500 * count(*) from deliveries where owner_id = ${ownerId}
    union all select sum(200 + coalesce(octet_length(response_excerpt), 0)) from attempts where owner_id = ${ownerId}`,
  any: (sql, ownerId) => sql`
    select from events where owner_id = ${ownerId}
    union all select from deliveries where owner_id = ${ownerId}
    union all select from attempts where owner_id = ${ownerId}`,
};

/** Each event may have a payload of 1 MB, and Postgres deletes 400 MB/s. */
export const EVENTS_AT_ONCE = 256;

export interface LookedAt {
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
  sql: Sql,
  ownerId: string,
  { after, bytes, pendingToo }: { after: string; bytes: number; pendingToo: boolean },
): Promise<LookedAt> {
  const [row] = await sql<{ events: number; last: string | null; deleted: number }[]>`
    with oldest as materialized (
      select event_id, conversation_id, 500 + coalesce(octet_length(payload), 0) as bytes from events
      where owner_id = ${ownerId} and event_id > ${after}
      order by event_id limit ${EVENTS_AT_ONCE}
    ), locked as materialized (
      -- The index of conversations finds them: there is none of events.
      select deliveries.event_id, delivery_id, status from deliveries
      join oldest on deliveries.conversation_id = oldest.conversation_id and deliveries.event_id = oldest.event_id
      where deliveries.owner_id = ${ownerId}
      order by delivery_id for update of deliveries
    ), summed as (
      select event_id, bytes, sum(bytes) over (order by event_id) as bytes_so_far from oldest
      where ${pendingToo}
        or not exists (select from locked where locked.event_id = oldest.event_id and status = 'pending')
    ), chosen as materialized (
      select event_id from summed where bytes_so_far - bytes < ${bytes}
    ), deliveries_gone as (
      delete from deliveries using locked join chosen using (event_id)
      where deliveries.owner_id = ${ownerId} and deliveries.delivery_id = locked.delivery_id
    ), attempts_gone as (
      delete from attempts using locked join chosen using (event_id)
      where attempts.owner_id = ${ownerId} and attempts.delivery_id = locked.delivery_id
    ), gone as (
      delete from events using chosen where events.owner_id = ${ownerId} and events.event_id = chosen.event_id
    )
    select (select count(*)::integer from oldest) as events, (select max(event_id) from oldest) as last,
      (select count(*)::integer from chosen) as deleted`;
  return { events: row?.events ?? 0, last: row?.last ?? after, deleted: row?.deleted ?? 0 };
}
