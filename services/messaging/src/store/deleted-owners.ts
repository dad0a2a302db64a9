import type { Sql } from "@parley/shared/db/database";

export async function insertDeletedOwner(sql: Sql, ownerId: string, now: Date): Promise<void> {
  await sql`insert into deleted_owners (owner_id, deleted_at) values (${ownerId}, ${now}) on conflict do nothing`;
}

export async function isOwnerDeleted(sql: Sql, ownerId: string): Promise<boolean> {
  const [row] = await sql`select 1 from deleted_owners where owner_id = ${ownerId}`;
  return row !== undefined;
}

/** Deletes messages to and from an owner's people. @returns the most rows that a table lost, at most `limit` */
export async function deleteMessagesOf(sql: Sql, ownerId: string, limit: number): Promise<number> {
  const incoming = await sql`
    delete from incoming_messages where (owner_id, carrier_id, message_id) in (
      select owner_id, carrier_id, message_id from incoming_messages where owner_id = ${ownerId} limit ${limit})`;
  const outgoing = await sql`
    delete from outgoing_messages where (owner_id, message_id) in (
      select owner_id, message_id from outgoing_messages where owner_id = ${ownerId} limit ${limit})`;
  const threads = await sql`
    delete from threads where (owner_id, carrier_id, contact) in (
      select owner_id, carrier_id, contact from threads where owner_id = ${ownerId} limit ${limit})`;
  return Math.max(incoming.count, outgoing.count, threads.count);
}
