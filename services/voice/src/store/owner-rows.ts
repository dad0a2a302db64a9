import type { Sql } from "@parley/shared/db/database";
import { type CallKey, LOST_QUEUE } from "./calls.ts";

/** The calls that processes hold: no more than an owner may have at once. */
export async function listCallsOf(sql: Sql, ownerId: string): Promise<CallKey[]> {
  return sql<CallKey[]>`select owner_id, conversation_id from calls where owner_id = ${ownerId}`;
}

/** Whether an owner has calls that have not ended, or that a job still hangs up. */
export async function hasCallsToEnd(sql: Sql, ownerId: string): Promise<boolean> {
  const [row] = await sql<{ has: boolean }[]>`
    select exists (select from calls where owner_id = ${ownerId})
      or exists (select from outbound_calls where owner_id = ${ownerId} and status <> 'ENDED')
      or exists (
        select from jobs where owner_id = ${ownerId} and queue = ${LOST_QUEUE} and due_at < 'infinity') as has`;
  return row?.has ?? false;
}

/** Recordings whose removal was not requested. */
export async function listRecordingsOf(sql: Sql, ownerId: string, limit: number): Promise<string[]> {
  const rows = await sql<CallKey[]>`
    select conversation_id from recordings where owner_id = ${ownerId} and state <> 'removing' limit ${limit}`;
  return rows.map(({ conversationId }) => conversationId);
}
