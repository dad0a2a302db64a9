import type { Sql } from "@parley/shared/db/database";

export async function insertDeletedOwner(sql: Sql, ownerId: string, now: Date): Promise<void> {
  await sql`insert into deleted_owners (owner_id, deleted_at) values (${ownerId}, ${now}) on conflict do nothing`;
}

export async function isOwnerDeleted(sql: Sql, ownerId: string): Promise<boolean> {
  const [row] = await sql`select 1 from deleted_owners where owner_id = ${ownerId}`;
  return row !== undefined;
}
