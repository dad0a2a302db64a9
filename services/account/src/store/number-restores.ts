import type { Sql } from "@parley/shared/db/database";
import type { NumberSettings } from "./mobile-numbers.ts";

/** A removed number whose former settings are to be restored at its carrier. */
export interface RestoreRow {
  ownerId: string;
  mobileNumber: string;
  carrierId: string;
  before: NumberSettings;
}

export async function insertRestore(sql: Sql, row: RestoreRow, now: Date): Promise<void> {
  await sql`
    insert into number_restores (owner_id, mobile_number, carrier_id, before, created_at)
    values (${row.ownerId}, ${row.mobileNumber}, ${row.carrierId}, ${sql.json(row.before)}, ${now})
    on conflict (owner_id, mobile_number) do update set carrier_id = excluded.carrier_id, before = excluded.before`;
}

export async function findRestore(sql: Sql, ownerId: string, mobileNumber: string): Promise<RestoreRow | null> {
  const [row] = await sql<RestoreRow[]>`
    select owner_id, mobile_number, carrier_id, before from number_restores
    where owner_id = ${ownerId} and mobile_number = ${mobileNumber}`;
  return row ?? null;
}

/** Cancels a restoration, because the number is imported again; null if there is none. */
export async function takeRestore(sql: Sql, ownerId: string, mobileNumber: string): Promise<RestoreRow | null> {
  const [row] = await sql<RestoreRow[]>`
    delete from number_restores where owner_id = ${ownerId} and mobile_number = ${mobileNumber}
    returning owner_id, mobile_number, carrier_id, before`;
  return row ?? null;
}
