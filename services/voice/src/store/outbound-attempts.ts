import type { Sql } from "@parley/shared/db/database";
import { type OutboundCall, type OutboundKey, outboundColumns } from "./outbound-calls.ts";
import { lockPlaces, placesTaken } from "./places.ts";

/** How long to wait for a free place, because any process may free one. The end of an outbound call wakes the queue at once. */
const NO_PLACE_MS = 2_000;

export interface CallLimits {
  /** The most calls of one owner at a time, of every kind. */
  callsMax: number;
  /** The most calls that one carrier account begins in a second. */
  callsPerSecond: number;
}

/**
 * Takes the next call of a carrier account out of the queue, and with it one of the owner's places.
 * @param until when an attempt without news counts as over
 * @returns the call; or when to ask again, because no place is free, the account's rate is used up or no call is due; null if the
 * queue is empty
 */
export async function takeNextCall(
  tx: Sql,
  { ownerId, carrierId, now, until }: { ownerId: string; carrierId: string; now: Date; until: Date },
  { callsMax, callsPerSecond }: CallLimits,
): Promise<OutboundCall | Date | null> {
  await lockPlaces(tx, ownerId);
  const [state] = await tx<{ taken: number; nextAt: Date | null; pacedUntil: Date | null }[]>`
    select
      (select count(*) from (${placesTaken(tx, ownerId, now)}) as places) as taken,
      (select min(due_at) from outbound_calls
       where owner_id = ${ownerId} and carrier_id = ${carrierId} and status = 'QUEUED') as next_at,
      (select placed_at + interval '1 second' from outbound_calls
       where owner_id = ${ownerId} and carrier_id = ${carrierId} and placed_at is not null
       order by placed_at desc offset ${callsPerSecond - 1} limit 1) as paced_until`;
  if (!state || state.nextAt === null) return null;
  if (state.taken >= callsMax) return new Date(now.getTime() + NO_PLACE_MS);
  const at = Math.max(state.nextAt.getTime(), state.pacedUntil?.getTime() ?? 0);
  if (at > now.getTime()) return new Date(at);
  const [call] = await tx<OutboundCall[]>`
    update outbound_calls set status = 'PLACING', attempts = attempts + 1, due_at = ${until}, placed_at = ${now}
    where owner_id = ${ownerId} and call_id = (
      select call_id from outbound_calls
      where owner_id = ${ownerId} and carrier_id = ${carrierId} and status = 'QUEUED' and due_at <= ${now}
      order by created_at, call_id limit 1)
    returning ${outboundColumns(tx)}`;
  return call ?? null;
}

/**
 * Extends an attempt right before the carrier is asked. @returns whether it may continue: if it took too long, another process makes the next
 */
export async function confirmAttempt(sql: Sql, call: OutboundCall, now: Date, until: Date): Promise<boolean> {
  const { count } = await sql`
    update outbound_calls set due_at = ${until}
    where owner_id = ${call.ownerId} and call_id = ${call.callId} and status = 'PLACING' and attempts = ${call.attempts}
      and due_at > ${now} and not is_unwanted`;
  return count > 0;
}

/** Whether a call is in the same attempt, and the same state, as when it was read; locks it until the end of the transaction. */
export async function isUnchanged(tx: Sql, call: OutboundCall): Promise<boolean> {
  const { count } = await tx`
    select from outbound_calls
    where owner_id = ${call.ownerId} and call_id = ${call.callId} and status = ${call.status} and attempts = ${call.attempts}
    for no key update`;
  return count > 0;
}

/** Deletes a call in its first attempt, before its carrier is asked. @returns whether there was one */
export async function deleteUntried(sql: Sql, { ownerId, callId }: OutboundKey): Promise<boolean> {
  const { count } = await sql`
    delete from outbound_calls
    where owner_id = ${ownerId} and call_id = ${callId} and status = 'PLACING' and attempts = 1`;
  return count > 0;
}

/** Puts a call that was not placed back into the queue. @returns whether it was this attempt's */
export async function requeueCall(sql: Sql, call: OutboundCall, dueAt: Date): Promise<boolean> {
  const { count } = await sql`
    update outbound_calls set status = 'QUEUED', due_at = ${dueAt}
    where owner_id = ${call.ownerId} and call_id = ${call.callId} and status = 'PLACING' and attempts = ${call.attempts}`;
  return count > 0;
}

/** Does the same for an attempt without a report in time. */
export async function requeueLostCall(sql: Sql, call: OutboundKey, now: Date): Promise<boolean> {
  const { count } = await sql`
    update outbound_calls set status = 'QUEUED', due_at = ${now}
    where owner_id = ${call.ownerId} and call_id = ${call.callId} and status = 'PLACING' and due_at <= ${now}`;
  return count > 0;
}
