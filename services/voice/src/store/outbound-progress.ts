import type { Sql } from "@parley/shared/db/database";
import type { CallEnd } from "./calls.ts";
import { findOutboundCall, type OutboundCall, type OutboundKey, outboundColumns } from "./outbound-calls.ts";

/** Records that the carrier has the call. Does nothing if a callback has reported more. */
export async function storeRinging(
  sql: Sql,
  { ownerId, callId }: OutboundKey,
  carrierCallId: string | null,
): Promise<void> {
  await sql`
    update outbound_calls set status = 'RINGING', carrier_call_id = coalesce(${carrierCallId}, carrier_call_id)
    where owner_id = ${ownerId} and call_id = ${callId} and status in ('QUEUED', 'PLACING', 'RINGING')`;
}

/** Records that someone or something answered. @returns false if the call has ended */
export async function storeAnswered(
  sql: Sql,
  { ownerId, callId }: OutboundKey,
  carrierCallId: string | null,
  now: Date,
): Promise<boolean> {
  const { count } = await sql`
    update outbound_calls set status = 'IN_PROGRESS', answered_at = coalesce(answered_at, ${now}),
      carrier_call_id = coalesce(${carrierCallId}, carrier_call_id)
    where owner_id = ${ownerId} and call_id = ${callId} and status <> 'ENDED'`;
  return count > 0;
}

/** Records that a machine answered, or is ready to record. */
export async function storeMachine(
  sql: Sql,
  { ownerId, callId }: OutboundKey,
  machine: NonNullable<OutboundCall["machine"]>,
): Promise<void> {
  await sql`
    update outbound_calls set machine = ${machine}
    where owner_id = ${ownerId} and call_id = ${callId} and status <> 'ENDED' and machine is distinct from 'ready'`;
}

/**
 * Records that the owner wants the call to end. One that waits for another attempt is due for it, which asks its carrier.
 * @returns the call as it is then; null if there is none
 */
export async function storeUnwanted(
  sql: Sql,
  { ownerId, callId }: OutboundKey,
  now: Date,
): Promise<OutboundCall | null> {
  const [call] = await sql<OutboundCall[]>`
    update outbound_calls set is_unwanted = true,
      due_at = case when status = 'QUEUED' then least(due_at, ${now}) else due_at end
    where owner_id = ${ownerId} and call_id = ${callId} and status <> 'ENDED'
    returning ${outboundColumns(sql)}`;
  return call ?? findOutboundCall(sql, { ownerId, callId });
}

/** Ends a call, once. @returns the ended call; null if it had ended before */
export async function storeEnd(
  sql: Sql,
  { ownerId, callId }: OutboundKey,
  { outcome, durationSeconds, notes }: CallEnd,
  now: Date,
): Promise<OutboundCall | null> {
  const [call] = await sql<OutboundCall[]>`
    update outbound_calls set status = 'ENDED', outcome = ${outcome}, notes = ${notes}, ended_at = ${now},
      duration_seconds = ${durationSeconds}
    where owner_id = ${ownerId} and call_id = ${callId} and status <> 'ENDED'
    returning ${outboundColumns(sql)}`;
  return call ?? null;
}
