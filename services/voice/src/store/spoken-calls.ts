import type { Sql } from "@parley/shared/db/database";
import type { OldRows } from "@parley/shared/jobs/old-rows";

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

/** Sentences may hold secrets, which are not needed once the phone has rung. */
export const OLD_SPOKEN_CALLS: OldRows = { table: "spoken_calls", by: "created_at", keptMs: 10 * 60_000 };
