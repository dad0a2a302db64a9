import type { Sql } from "@parley/shared/db/database";
import type { CallKey } from "./calls.ts";

/** The rows of a deleted owner that are deleted. Functions with a limit return the number of rows. */

export async function deleteDoNotCallOf(sql: Sql, ownerId: string, limit: number): Promise<number> {
  const { count } = await sql`
    delete from do_not_call where (owner_id, mobile_number) in (
      select owner_id, mobile_number from do_not_call where owner_id = ${ownerId} limit ${limit})`;
  return count;
}

export async function deleteIncomingCallsOf(sql: Sql, ownerId: string, limit: number): Promise<number> {
  const { count } = await sql`
    delete from incoming_calls where (owner_id, call_id) in (
      select owner_id, call_id from incoming_calls where owner_id = ${ownerId} limit ${limit})`;
  return count;
}

export async function deleteWebCallsOf(sql: Sql, ownerId: string, limit: number): Promise<number> {
  const { count } = await sql`
    delete from web_calls where (owner_id, conversation_id) in (
      select owner_id, conversation_id from web_calls where owner_id = ${ownerId} limit ${limit})`;
  return count;
}

/** An owner has few trunks. */
export async function deleteTrunksOf(sql: Sql, ownerId: string): Promise<void> {
  await sql`delete from trunk_contacts where owner_id = ${ownerId}`;
  await sql`delete from trunk_registrations where owner_id = ${ownerId}`;
}

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
