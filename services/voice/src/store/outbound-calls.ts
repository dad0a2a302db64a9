import type { Sql } from "@parley/shared/db/database";
import type { OldRows } from "@parley/shared/jobs/old-rows";
import type { CallEnd } from "./calls.ts";

export interface OutboundKey {
  ownerId: string;
  callId: string;
}

export type Provider = "TWILIO" | "PLIVO" | "SIP";
export type Status = "QUEUED" | "PLACING" | "RINGING" | "IN_PROGRESS" | "ENDED";

export interface NewOutboundCall extends OutboundKey {
  conversationId: string;
  agentId: string;
  /** Null: the one that is published when the call begins. */
  agentVersion: number | null;
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

/** The columns of an `OutboundCall`. */
export const outboundColumns = (sql: Sql) => sql`
  owner_id, call_id, conversation_id, agent_id, carrier_id, provider, to_mobile_number, from_mobile_number,
  dynamic_variables, metadata, is_test_call, max_duration_seconds, ring_seconds, voicemail, status, attempts, due_at,
  carrier_call_id, is_unwanted, machine, created_at, placed_at, answered_at, ended_at, duration_seconds, outcome, notes,
  batch_id, batch_number, agent_version`;

export async function insertOutboundCall(sql: Sql, call: NewOutboundCall, now: Date): Promise<void> {
  await sql`
    insert into outbound_calls (owner_id, call_id, conversation_id, agent_id, carrier_id, provider, to_mobile_number,
      from_mobile_number, dynamic_variables, metadata, is_test_call, max_duration_seconds, ring_seconds, voicemail,
      batch_id, batch_number, due_at, created_at, agent_version)
    values (${call.ownerId}, ${call.callId}, ${call.conversationId}, ${call.agentId}, ${call.carrierId}, ${call.provider},
      ${call.toMobileNumber}, ${call.fromMobileNumber}, ${sql.json(call.dynamicVariables as never)},
      ${sql.json(call.metadata as never)}, ${call.isTestCall}, ${call.maxDurationSeconds}, ${call.ringSeconds},
      ${call.voicemail}, ${call.batchId}, ${call.batchNumber}, ${now}, ${now}, ${call.agentVersion})`;
}

export async function countQueued(sql: Sql, ownerId: string): Promise<number> {
  const [row] = await sql<{ queued: number }[]>`
    select count(*) as queued from outbound_calls where owner_id = ${ownerId} and status = 'QUEUED'`;
  return row?.queued ?? 0;
}

/** When the oldest call in any owner's queue was requested; null if the queues are empty. */
export async function queuedSince(sql: Sql): Promise<Date | null> {
  const [row] = await sql<{ since: Date | null }[]>`
    select min(created_at) as since from outbound_calls where status = 'QUEUED'`;
  return row?.since ?? null;
}

export async function findOutboundCall(sql: Sql, { ownerId, callId }: OutboundKey): Promise<OutboundCall | null> {
  const [row] = await sql<OutboundCall[]>`
    select ${outboundColumns(sql)} from outbound_calls where owner_id = ${ownerId} and call_id = ${callId}`;
  return row ?? null;
}

/** Finds a call by its id alone, because a carrier's callback has nothing else. */
export async function findCalledBack(sql: Sql, callId: string): Promise<{ ownerId: string; carrierId: string } | null> {
  const [row] = await sql<{ ownerId: string; carrierId: string }[]>`
    select owner_id, carrier_id from outbound_calls where call_id = ${callId}`;
  return row ?? null;
}

/** The call that has this id at its carrier, if it is known. */
export async function findIdOfCarrierCall(sql: Sql, ownerId: string, carrierCallId: string): Promise<string | null> {
  const [row] = await sql<{ callId: string }[]>`
    select call_id from outbound_calls where owner_id = ${ownerId} and carrier_call_id = ${carrierCallId} limit 1`;
  return row?.callId ?? null;
}

interface OutboundFilter {
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
      select ${outboundColumns(sql)} from outbound_calls where ${wanted}
      order by created_at desc, call_id desc limit ${page.size} offset ${(page.number - 1) * page.size}`,
    sql<{ total: number }[]>`select count(*) as total from outbound_calls where ${wanted}`,
  ]);
  return { calls, total: count?.total ?? 0 };
}

/** The outbound call of a conversation; null if it has none. */
export async function findCallOfConversation(
  sql: Sql,
  { ownerId, conversationId }: { ownerId: string; conversationId: string },
): Promise<OutboundCall | null> {
  const [row] = await sql<OutboundCall[]>`
    select ${outboundColumns(sql)} from outbound_calls where owner_id = ${ownerId} and conversation_id = ${conversationId}`;
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
    select ${outboundColumns(sql)} from outbound_calls
    where owner_id = ${ownerId} and carrier_id = ${carrierId} and status = 'QUEUED' and created_at < ${before}
    order by created_at, call_id limit ${limit}`;
}

/**
 * Forgets what at most `limit` calls that ended before `before` were made with, unless their conversations may not have it yet.
 * @returns the number of calls
 */
export async function forgetGiven(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    update outbound_calls set dynamic_variables = '{}', metadata = '{}' where ctid = any(array(
      select ctid from outbound_calls as ended
      where ended_at < ${before} and status = 'ENDED' and (dynamic_variables <> '{}' or metadata <> '{}')
        and not exists (select from jobs where owner_id = ended.owner_id and job_id = 'complete:' || ended.call_id)
        and not exists (
          select from calls where owner_id = ended.owner_id and conversation_id = ended.conversation_id
        )
      order by ended_at limit ${limit} for update skip locked
    ))`;
  return count;
}

/** Their conversations are kept for the owner's retention. */
export const OLD_CALLS: OldRows = { table: "outbound_calls", by: "ended_at", keptMs: 30 * 24 * 60 * 60_000 };

/** The calls of an owner that have not ended: as many as its queue and its places hold. */
export async function listUnended(sql: Sql, ownerId: string): Promise<OutboundCall[]> {
  return sql<OutboundCall[]>`
    select ${outboundColumns(sql)} from outbound_calls where owner_id = ${ownerId} and status <> 'ENDED'`;
}

/** The calls of a batch that have not ended. */
export async function listUnendedOfBatch(sql: Sql, ownerId: string, batchId: string): Promise<OutboundCall[]> {
  return sql<OutboundCall[]>`
    select ${outboundColumns(sql)} from outbound_calls
    where owner_id = ${ownerId} and batch_id = ${batchId} and status <> 'ENDED'`;
}
