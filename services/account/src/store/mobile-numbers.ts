import type { Sql } from "@parley/shared/db/database";

export interface NumberRow {
  ownerId: string;
  mobileNumber: string;
  telephonyProvider: string;
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
    insert into mobile_numbers (owner_id, mobile_number, telephony_provider, created_at)
    values (${row.ownerId}, ${row.mobileNumber}, ${row.telephonyProvider}, ${now})`;
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
    select owner_id, mobile_number, telephony_provider
    from mobile_numbers where owner_id = ${ownerId} order by created_at, mobile_number`;
}

/** Returns whether the number existed. */
export async function deleteNumber(sql: Sql, ownerId: string, mobileNumber: string): Promise<boolean> {
  const { count } = await sql`
    delete from mobile_numbers where owner_id = ${ownerId} and mobile_number = ${mobileNumber}`;
  return count > 0;
}
