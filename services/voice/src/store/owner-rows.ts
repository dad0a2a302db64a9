import type { Sql } from "@parley/shared/db/database";
import type { CallKey } from "./calls.ts";

/** The calls that processes hold: no more than an owner may have at once. */
export async function listCallsOf(sql: Sql, ownerId: string): Promise<CallKey[]> {
  return sql<CallKey[]>`select owner_id, conversation_id from calls where owner_id = ${ownerId}`;
}

/** Recordings whose removal was not requested. */
export async function listRecordingsOf(sql: Sql, ownerId: string, limit: number): Promise<string[]> {
  const rows = await sql<CallKey[]>`
    select conversation_id from recordings where owner_id = ${ownerId} and state <> 'removing' limit ${limit}`;
  return rows.map(({ conversationId }) => conversationId);
}
