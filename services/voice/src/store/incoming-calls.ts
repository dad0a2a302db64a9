import type { Sql } from "@parley/shared/db/database";
import { oldestPlaces } from "@parley/shared/db/oldest-places";

export interface IncomingCall {
  ownerId: string;
  callId: string;
  carrierId: string;
  provider: "TWILIO" | "PLIVO";
  carrierCallId: string;
  conversationId: string;
  agentId: string;
  toMobileNumber: string;
  /** Null if withheld. */
  fromMobileNumber: string | null;
  createdAt: Date;
}

const columns = (sql: Sql) => sql`
  owner_id, call_id, carrier_id, provider, carrier_call_id, conversation_id, agent_id, to_mobile_number, from_mobile_number,
  created_at`;

/** Stores a call that a carrier reports. @returns the stored one, which is an earlier one if the carrier has reported it before */
export async function insertIncomingCall(sql: Sql, call: IncomingCall): Promise<IncomingCall> {
  const [row] = await sql<IncomingCall[]>`
    insert into incoming_calls (${columns(sql)})
    values (${call.ownerId}, ${call.callId}, ${call.carrierId}, ${call.provider}, ${call.carrierCallId},
      ${call.conversationId}, ${call.agentId}, ${call.toMobileNumber}, ${call.fromMobileNumber}, ${call.createdAt})
    on conflict (owner_id, carrier_id, carrier_call_id) do update set carrier_call_id = excluded.carrier_call_id
    returning ${columns(sql)}`;
  return row ?? call;
}

/** How many of an owner's calls began after `since`. */
export async function countIncomingCalls(sql: Sql, ownerId: string, since: Date): Promise<number> {
  const [row] = await sql<{ calls: number }[]>`
    select count(*)::integer as calls from incoming_calls where owner_id = ${ownerId} and created_at > ${since}`;
  return row?.calls ?? 0;
}

export async function findIncomingCall(
  sql: Sql,
  { ownerId, callId }: { ownerId: string; callId: string },
): Promise<IncomingCall | null> {
  const [row] = await sql<IncomingCall[]>`
    select ${columns(sql)} from incoming_calls where owner_id = ${ownerId} and call_id = ${callId}`;
  return row ?? null;
}

/** Deletes at most `limit` calls that began before `before`. @returns the number deleted */
export async function deleteIncomingCalls(sql: Sql, before: Date, limit: number): Promise<number> {
  const old = { where: sql`created_at < ${before}`, by: "created_at", limit };
  const { count } = await sql`delete from incoming_calls where ctid = any(${oldestPlaces(sql, "incoming_calls", old)})`;
  return count;
}
