import type { Sql } from "@parley/shared/db/database";

export interface TrunkKey {
  ownerId: string;
  carrierId: string;
}

/** Null if no process has registered with the trunk. */
export async function findTrunkContact(sql: Sql, { ownerId, carrierId }: TrunkKey): Promise<string | null> {
  const [row] = await sql<{ contact: string }[]>`
    select contact from trunk_contacts where owner_id = ${ownerId} and carrier_id = ${carrierId}`;
  return row?.contact ?? null;
}

export async function storeTrunkContact(
  sql: Sql,
  { ownerId, carrierId, contact, processId }: TrunkKey & { contact: string; processId: string },
): Promise<void> {
  await sql`
    insert into trunk_contacts (owner_id, carrier_id, contact, process_id)
    values (${ownerId}, ${carrierId}, ${contact}, ${processId})
    on conflict (owner_id, carrier_id) do update set contact = excluded.contact, process_id = excluded.process_id`;
}

export async function deleteTrunkContact(sql: Sql, { ownerId, carrierId }: TrunkKey): Promise<void> {
  await sql`delete from trunk_contacts where owner_id = ${ownerId} and carrier_id = ${carrierId}`;
}

/** The trunks that send their calls to a process. */
export async function listTrunksOf(sql: Sql, processId: string): Promise<TrunkKey[]> {
  return sql<TrunkKey[]>`select owner_id, carrier_id from trunk_contacts where process_id = ${processId}`;
}
