import type { Sql } from "@parley/shared/db/database";
import type { CallEnd } from "../call/port.ts";
import { lockPlaces, placesTaken } from "./places.ts";

export interface OutboundKey {
  ownerId: string;
  callId: string;
}

export type Provider = "TWILIO" | "PLIVO" | "SIP";
export type Status = "QUEUED" | "PLACING" | "RINGING" | "IN_PROGRESS" | "ENDED";

export interface NewOutboundCall extends OutboundKey {
  conversationId: string;
  agentId: string;
  carrierId: string;
  provider: Provider;
  toMobileNumber: string;
  fromMobileNumber: string;
  dynamicVariables: Record<string, unknown>;
  metadata: Record<string, unknown>;
  isTestCall: boolean;
  maxDurationSeconds: number;
  ringSeconds: number;
  voicemail: "hang_up" | "leave_message" | null;
  /** The batch that it belongs to, and its number there. */
  batchId: string | null;
  batchNumber: number | null;
}

export interface OutboundCall extends NewOutboundCall {
  status: Status;
  attempts: number;
  dueAt: Date;
  carrierCallId: string | null;
  isUnwanted: boolean;
  machine: "answered" | "ready" | null;
  createdAt: Date;
  placedAt: Date | null;
  answeredAt: Date | null;
  endedAt: Date | null;
  durationSeconds: number | null;
  outcome: CallEnd["outcome"] | null;
  notes: string | null;
}

const columns = (sql: Sql) => sql`
  owner_id, call_id, conversation_id, agent_id, carrier_id, provider, to_mobile_number, from_mobile_number,
  dynamic_variables, metadata, is_test_call, max_duration_seconds, ring_seconds, voicemail, status, attempts, due_at,
  carrier_call_id, is_unwanted, machine, created_at, placed_at, answered_at, ended_at, duration_seconds, outcome, notes,
  batch_id, batch_number`;

export async function insertOutboundCall(sql: Sql, call: NewOutboundCall, now: Date): Promise<void> {
  await sql`
    insert into outbound_calls (owner_id, call_id, conversation_id, agent_id, carrier_id, provider, to_mobile_number,
      from_mobile_number, dynamic_variables, metadata, is_test_call, max_duration_seconds, ring_seconds, voicemail,
      batch_id, batch_number, due_at, created_at)
    values (${call.ownerId}, ${call.callId}, ${call.conversationId}, ${call.agentId}, ${call.carrierId}, ${call.provider},
      ${call.toMobileNumber}, ${call.fromMobileNumber}, ${sql.json(call.dynamicVariables as never)},
      ${sql.json(call.metadata as never)}, ${call.isTestCall}, ${call.maxDurationSeconds}, ${call.ringSeconds},
      ${call.voicemail}, ${call.batchId}, ${call.batchNumber}, ${now}, ${now})`;
}

export async function countQueued(sql: Sql, ownerId: string): Promise<number> {
  const [row] = await sql<{ queued: number }[]>`
    select count(*) as queued from outbound_calls where owner_id = ${ownerId} and status = 'QUEUED'`;
  return row?.queued ?? 0;
}

/** When the oldest call of anyone's that waits was asked for; null if none waits. */
export async function queuedSince(sql: Sql): Promise<Date | null> {
  const [row] = await sql<{ since: Date | null }[]>`
    select min(created_at) as since from outbound_calls where status = 'QUEUED'`;
  return row?.since ?? null;
}

export async function findOutboundCall(sql: Sql, { ownerId, callId }: OutboundKey): Promise<OutboundCall | null> {
  const [row] = await sql<OutboundCall[]>`
    select ${columns(sql)} from outbound_calls where owner_id = ${ownerId} and call_id = ${callId}`;
  return row ?? null;
}

/** By its id alone, which is what a carrier's callback has. */
export async function findCalledBack(sql: Sql, callId: string): Promise<{ ownerId: string; carrierId: string } | null> {
  const [row] = await sql<{ ownerId: string; carrierId: string }[]>`
    select owner_id, carrier_id from outbound_calls where call_id = ${callId}`;
  return row ?? null;
}

/** The call that a carrier is known to have under its own id. */
export async function findIdOfCarrierCall(sql: Sql, ownerId: string, carrierCallId: string): Promise<string | null> {
  const [row] = await sql<{ callId: string }[]>`
    select call_id from outbound_calls where owner_id = ${ownerId} and carrier_call_id = ${carrierCallId} limit 1`;
  return row?.callId ?? null;
}

export interface OutboundFilter {
  ownerId: string;
  statuses: readonly Status[];
  agentId: string;
  toMobileNumber: string;
  batchId: string;
}

export async function listOutboundCalls(
  sql: Sql,
  filter: OutboundFilter,
  page: { number: number; size: number },
): Promise<{ calls: OutboundCall[]; total: number }> {
  const { ownerId, statuses, agentId, toMobileNumber, batchId } = filter;
  const wanted = sql`
    owner_id = ${ownerId}
    ${statuses.length > 0 ? sql`and status = any(${statuses as Status[]})` : sql``}
    ${agentId === "" ? sql`` : sql`and agent_id = ${agentId}`}
    ${batchId === "" ? sql`` : sql`and batch_id = ${batchId}`}
    ${toMobileNumber === "" ? sql`` : sql`and to_mobile_number = ${toMobileNumber}`}`;
  const [calls, [count]] = await Promise.all([
    sql<OutboundCall[]>`
      select ${columns(sql)} from outbound_calls where ${wanted}
      order by created_at desc, call_id desc limit ${page.size} offset ${(page.number - 1) * page.size}`,
    sql<{ total: number }[]>`select count(*) as total from outbound_calls where ${wanted}`,
  ]);
  return { calls, total: count?.total ?? 0 };
}

/** A place may become free in any process; the end of an outbound call is told at once. */
const NO_PLACE_MS = 2_000;

export interface CallLimits {
  /** Of one owner, calls of every kind. */
  callsMax: number;
  /** Of one carrier account. */
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
      (select count(*) from (${placesTaken(tx, ownerId)}) as places) as taken,
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
    returning ${columns(tx)}`;
  return call ?? null;
}

/**
 * Right before the carrier is asked. @returns whether this attempt may continue: another process makes the next one if it took too long
 */
export async function confirmAttempt(sql: Sql, call: OutboundCall, now: Date, until: Date): Promise<boolean> {
  const { count } = await sql`
    update outbound_calls set due_at = ${until}
    where owner_id = ${call.ownerId} and call_id = ${call.callId} and status = 'PLACING' and attempts = ${call.attempts}
      and due_at > ${now} and not is_unwanted`;
  return count > 0;
}

/** Puts a call that was not placed back into the queue. @returns whether it was this attempt's */
export async function requeueCall(sql: Sql, call: OutboundCall, dueAt: Date): Promise<boolean> {
  const { count } = await sql`
    update outbound_calls set status = 'QUEUED', due_at = ${dueAt}
    where owner_id = ${call.ownerId} and call_id = ${call.callId} and status = 'PLACING' and attempts = ${call.attempts}`;
  return count > 0;
}

/** The same for an attempt that brought no news in time. */
export async function requeueLostCall(sql: Sql, call: OutboundKey, now: Date): Promise<boolean> {
  const { count } = await sql`
    update outbound_calls set status = 'QUEUED', due_at = ${now}
    where owner_id = ${call.ownerId} and call_id = ${call.callId} and status = 'PLACING' and due_at <= ${now}`;
  return count > 0;
}

/** The carrier has the call. Does nothing if a callback has said more. */
export async function storeRinging(
  sql: Sql,
  { ownerId, callId }: OutboundKey,
  carrierCallId: string | null,
): Promise<void> {
  await sql`
    update outbound_calls set status = 'RINGING', carrier_call_id = coalesce(${carrierCallId}, carrier_call_id)
    where owner_id = ${ownerId} and call_id = ${callId} and status in ('QUEUED', 'PLACING', 'RINGING')`;
}

/** Someone or something answered. @returns false if the call has ended */
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

/** A machine answered, or is ready to record. */
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
    returning ${columns(sql)}`;
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
    returning ${columns(sql)}`;
  return call ?? null;
}

/** The call of a conversation, if it is one of these. */
export async function findCallOfConversation(
  sql: Sql,
  { ownerId, conversationId }: { ownerId: string; conversationId: string },
): Promise<OutboundCall | null> {
  const [row] = await sql<OutboundCall[]>`
    select ${columns(sql)} from outbound_calls where owner_id = ${ownerId} and conversation_id = ${conversationId}`;
  return row ?? null;
}

/** Whether a process holds the call's audio. */
export async function isHeld(
  sql: Sql,
  { ownerId, conversationId }: { ownerId: string; conversationId: string },
): Promise<boolean> {
  const [row] = await sql`
    select 1 from calls where owner_id = ${ownerId} and conversation_id = ${conversationId}`;
  return row !== undefined;
}

/** The carrier accounts of an owner that have calls in the queue. */
export async function listQueuedCarriers(sql: Sql, ownerId: string): Promise<string[]> {
  const rows = await sql<{ carrierId: string }[]>`
    select distinct carrier_id from outbound_calls where owner_id = ${ownerId} and status = 'QUEUED'`;
  return rows.map(({ carrierId }) => carrierId);
}

/** Calls of a carrier account that have waited since before `before`. At most `limit`, oldest first. */
export async function listOverdue(
  sql: Sql,
  { ownerId, carrierId, before, limit }: { ownerId: string; carrierId: string; before: Date; limit: number },
): Promise<OutboundCall[]> {
  return sql<OutboundCall[]>`
    select ${columns(sql)} from outbound_calls
    where owner_id = ${ownerId} and carrier_id = ${carrierId} and status = 'QUEUED' and created_at < ${before}
    order by created_at, call_id limit ${limit}`;
}

/** Deletes at most `limit` calls that ended before `before`. @returns the number deleted */
export async function deleteEndedCalls(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from outbound_calls where (owner_id, call_id) in (
      select owner_id, call_id from outbound_calls where ended_at < ${before} order by ended_at limit ${limit})`;
  return count;
}

/** The calls of an owner that have not ended: as many as its queue and its places hold. */
export async function listUnended(sql: Sql, ownerId: string): Promise<OutboundCall[]> {
  return sql<OutboundCall[]>`
    select ${columns(sql)} from outbound_calls where owner_id = ${ownerId} and status <> 'ENDED'`;
}

/** The calls of a batch that have not ended. */
export async function listUnendedOfBatch(sql: Sql, ownerId: string, batchId: string): Promise<OutboundCall[]> {
  return sql<OutboundCall[]>`
    select ${columns(sql)} from outbound_calls
    where owner_id = ${ownerId} and batch_id = ${batchId} and status <> 'ENDED'`;
}
