import type { Sql } from "@parley/shared/db/database";
import type { NumberSettings } from "../carriers/account.ts";

export interface NumberRow {
  ownerId: string;
  mobileNumber: string;
  telephonyProvider: string;
  /** Null for a number that was only added. */
  carrierId: string | null;
  /** Its previous settings at its carrier. */
  before: NumberSettings | null;
}

/** Serializes changes to a number until the end of the transaction. */
export async function lockNumber(tx: Sql, mobileNumber: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended('account.mobile_number.' || ${mobileNumber}, 0))`;
}

/** The number's owner; a deleted owner's number is free. */
export async function findNumberOwner(sql: Sql, mobileNumber: string): Promise<string | null> {
  const [row] = await sql<{ ownerId: string }[]>`
    select owner_id from mobile_numbers join owners using (owner_id)
    where mobile_number = ${mobileNumber} and deleted_at is null`;
  return row?.ownerId ?? null;
}

export async function insertNumber(sql: Sql, row: NumberRow, now: Date): Promise<void> {
  await sql`
    insert into mobile_numbers (owner_id, mobile_number, telephony_provider, carrier_id, before, created_at)
    values (${row.ownerId}, ${row.mobileNumber}, ${row.telephonyProvider}, ${row.carrierId},
      ${row.before && sql.json(row.before)}, ${now})`;
}

/** Replaces a number that the owner had added, or imported from another carrier. */
export async function updateNumber(sql: Sql, row: NumberRow): Promise<void> {
  await sql`
    update mobile_numbers
    set telephony_provider = ${row.telephonyProvider}, carrier_id = ${row.carrierId}, before = ${row.before && sql.json(row.before)}
    where owner_id = ${row.ownerId} and mobile_number = ${row.mobileNumber}`;
}

export async function findNumber(sql: Sql, ownerId: string, mobileNumber: string): Promise<NumberRow | null> {
  const [row] = await sql<NumberRow[]>`
    select owner_id, mobile_number, telephony_provider, carrier_id, before
    from mobile_numbers where owner_id = ${ownerId} and mobile_number = ${mobileNumber}`;
  return row ?? null;
}

export async function countNumbers(sql: Sql, ownerId: string): Promise<number> {
  const [row] = await sql<
    { total: number }[]
  >`select count(*) as total from mobile_numbers where owner_id = ${ownerId}`;
  return row?.total ?? 0;
}

/** Oldest first. */
export async function listNumbers(sql: Sql, ownerId: string): Promise<NumberRow[]> {
  return sql<NumberRow[]>`
    select owner_id, mobile_number, telephony_provider, carrier_id, before
    from mobile_numbers where owner_id = ${ownerId} order by created_at, mobile_number`;
}

export async function countNumbersOf(sql: Sql, ownerId: string, carrierId: string): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*) as total from mobile_numbers where owner_id = ${ownerId} and carrier_id = ${carrierId}`;
  return row?.total ?? 0;
}

/** Null if there was none. */
export async function deleteNumber(sql: Sql, ownerId: string, mobileNumber: string): Promise<NumberRow | null> {
  const [row] = await sql<NumberRow[]>`
    delete from mobile_numbers where owner_id = ${ownerId} and mobile_number = ${mobileNumber}
    returning owner_id, mobile_number, telephony_provider, carrier_id, before`;
  return row ?? null;
}

/** Deletes an owner's imported numbers. */
export async function deleteImportedNumbers(sql: Sql, ownerId: string): Promise<NumberRow[]> {
  return sql<NumberRow[]>`
    delete from mobile_numbers where owner_id = ${ownerId} and carrier_id is not null
    returning owner_id, mobile_number, telephony_provider, carrier_id, before`;
}
