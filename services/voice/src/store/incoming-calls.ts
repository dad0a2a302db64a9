import type { Database, Sql } from "@parley/shared/db/database";
import type { OldRows } from "@parley/shared/jobs/old-rows";
import { lockPlaces, placesTaken } from "./places.ts";

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

/**
 * Stores a call that a carrier reports, and reserves one of its owner's places for it.
 * @param callsMax of one owner, in all processes
 * @returns the stored one, which is an earlier one if the carrier has reported it before; null if all places are taken
 */
export async function insertIncomingCall(
  db: Database,
  call: IncomingCall & { reservedUntil: Date },
  callsMax: number,
): Promise<IncomingCall | null> {
  return db.begin(async (tx) => {
    await lockPlaces(tx, call.ownerId);
    const [known] = await tx<IncomingCall[]>`
      select ${columns(tx)} from incoming_calls
      where owner_id = ${call.ownerId} and carrier_id = ${call.carrierId} and carrier_call_id = ${call.carrierCallId}`;
    if (known) return known;
    const inserted = await tx`
      insert into incoming_calls (${columns(tx)}, reserved_until)
      select ${call.ownerId}, ${call.callId}, ${call.carrierId}, ${call.provider}, ${call.carrierCallId},
        ${call.conversationId}, ${call.agentId}, ${call.toMobileNumber}, ${call.fromMobileNumber}, ${call.createdAt},
        ${call.reservedUntil}
      where (select count(*) from (${placesTaken(tx, call.ownerId, call.createdAt)}) as places) < ${callsMax}
      returning 1`;
    return inserted.length > 0 ? call : null;
  });
}

/** Gives up the place that is reserved for a call: it has been held, or never will be. */
export async function unreserve(
  sql: Sql,
  { ownerId, carrierId, carrierCallId }: Pick<IncomingCall, "ownerId" | "carrierId" | "carrierCallId">,
): Promise<void> {
  await sql`
    update incoming_calls set reserved_until = null
    where owner_id = ${ownerId} and carrier_id = ${carrierId} and carrier_call_id = ${carrierCallId}
      and reserved_until is not null`;
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

/** So that each gets one stream. */
export const OLD_INCOMING_CALLS: OldRows = { table: "incoming_calls", by: "created_at", keptMs: 24 * 60 * 60_000 };
