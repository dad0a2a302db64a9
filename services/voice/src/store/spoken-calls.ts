import type { Sql } from "@parley/shared/db/database";
import { oldestPlaces } from "@parley/shared/db/oldest-places";

export interface SpokenCall {
  ownerId: string;
  callId: string;
  carrierId: string;
  sentence: string;
}

export async function insertSpokenCall(sql: Sql, call: SpokenCall, now: Date): Promise<void> {
  await sql`
    insert into spoken_calls (owner_id, call_id, carrier_id, sentence, created_at)
    values (${call.ownerId}, ${call.callId}, ${call.carrierId}, ${call.sentence}, ${now})`;
}

/** Finds a call by its id alone, because a carrier's callback has nothing else. */
export async function findSpokenCall(sql: Sql, callId: string): Promise<SpokenCall | null> {
  const [row] = await sql<SpokenCall[]>`
    select owner_id, call_id, carrier_id, sentence from spoken_calls where call_id = ${callId}`;
  return row ?? null;
}

/** Deletes at most `limit` calls that began before `before`. @returns the number deleted */
export async function deleteSpokenCalls(sql: Sql, before: Date, limit: number): Promise<number> {
  const old = { where: sql`created_at < ${before}`, by: "created_at", limit };
  const { count } = await sql`delete from spoken_calls where ctid = any(${oldestPlaces(sql, "spoken_calls", old)})`;
  return count;
}
