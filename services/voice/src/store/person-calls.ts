import type { Sql } from "@parley/shared/db/database";
import type { OldRows } from "@parley/shared/jobs/old-rows";

/** A call to a person for the user of another call. The process that holds that one waits for its audio. */
export interface PersonCall {
  ownerId: string;
  callId: string;
  carrierId: string;
  provider: "TWILIO" | "PLIVO";
}

type Key = Pick<PersonCall, "ownerId" | "callId">;

export async function insertPersonCall(sql: Sql, call: PersonCall, now: Date): Promise<void> {
  await sql`
    insert into person_calls (owner_id, call_id, carrier_id, provider, created_at)
    values (${call.ownerId}, ${call.callId}, ${call.carrierId}, ${call.provider}, ${now})`;
}

/** A call as its callbacks find it. */
interface FoundPersonCall extends PersonCall {
  isOver: boolean;
  createdAt: Date;
}

/** Finds a call by its id alone, because a carrier's callback has nothing else. */
export async function findPersonCall(sql: Sql, callId: string): Promise<FoundPersonCall | null> {
  const [row] = await sql<FoundPersonCall[]>`
    select owner_id, call_id, carrier_id, provider, is_over, created_at from person_calls where call_id = ${callId}`;
  return row ?? null;
}

/** The call that has this id at its carrier, if it is known. */
export async function findPersonCallOfCarrier(
  sql: Sql,
  ownerId: string,
  carrierCallId: string,
): Promise<string | null> {
  const [row] = await sql<{ callId: string }[]>`
    select call_id from person_calls where owner_id = ${ownerId} and carrier_call_id = ${carrierCallId} limit 1`;
  return row?.callId ?? null;
}

export async function storePersonRings(sql: Sql, { ownerId, callId }: Key, carrierCallId: string): Promise<void> {
  await sql`
    update person_calls set carrier_call_id = ${carrierCallId} where owner_id = ${ownerId} and call_id = ${callId}`;
}

/** Nobody waits for the call's audio anymore. */
export async function endPersonCall(sql: Sql, { ownerId, callId }: Key): Promise<void> {
  await sql`update person_calls set is_over = true where owner_id = ${ownerId} and call_id = ${callId}`;
}

/** Longer than a call lasts: its end is reported, too. */
export const OLD_PERSON_CALLS: OldRows = { table: "person_calls", by: "created_at", keptMs: 24 * 60 * 60_000 };
