import type { Fragment, Sql } from "@parley/shared/db/database";

/** Two processes must not both take an owner's last place. Until the end of the transaction. */
export async function lockPlaces(tx: Sql, ownerId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${ownerId}, 0))`;
}

/**
 * The conversations that take an owner's places: calls that processes hold, those that ring or are about to, and those that carriers are
 * about to stream.
 */
export function placesTaken(sql: Sql, ownerId: string, now: Date): Fragment {
  return sql`
    select conversation_id from calls where owner_id = ${ownerId} and not is_unbegun
    union
    select conversation_id from outbound_calls
    where owner_id = ${ownerId} and status in ('PLACING', 'RINGING', 'IN_PROGRESS')
    union
    select conversation_id from incoming_calls where owner_id = ${ownerId} and reserved_until > ${now}`;
}
