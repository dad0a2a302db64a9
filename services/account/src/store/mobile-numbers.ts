import type { Sql } from "@parley/shared/db/database";

/** The carrier's own fields of a number, as stored until the number is removed. {} if its calls already come here. */
export type NumberSettings = Readonly<Record<string, string>>;

export interface NumberRow {
  ownerId: string;
  mobileNumber: string;
  telephonyProvider: string;
  /** Null for a number that was only added. */
  carrierId: string | null;
  /** Its previous settings at its carrier. */
  before: NumberSettings | null;
  /** Null if the owner has not proven that the number is theirs. */
  provenBy: Proof | null;
  provenAt: Date | null;
  /** When another owner proved that the number is theirs: then this claim has no effect. */
  replacedAt: Date | null;
  /** When this claim replaced another owner's. */
  replacesAt: Date | null;
}

/** How an owner proves that a number is theirs: its carrier says so, a call told them a code, or the operator vouches for them. */
export type Proof = "CARRIER" | "CODE" | "OPERATOR";

const columns = (sql: Sql) => sql`
  owner_id, mobile_number, telephony_provider, carrier_id, before, proven_by, proven_at, replaced_at, replaces_at`;

/** Serializes changes to a number until the end of the transaction. */
export async function lockNumber(tx: Sql, mobileNumber: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended('account.mobile_number.' || ${mobileNumber}, 0))`;
}

/** The claim that holds; a deleted owner's number is free. */
export async function findHolder(sql: Sql, mobileNumber: string): Promise<NumberRow | null> {
  const [row] = await sql<NumberRow[]>`
    select ${columns(sql)} from mobile_numbers
    where mobile_number = ${mobileNumber} and replaced_at is null
      and (select deleted_at is null from owners where owners.owner_id = mobile_numbers.owner_id)`;
  return row ?? null;
}

/** Takes a claim's effect; its owner still sees it. */
export async function replaceClaim(sql: Sql, { ownerId, mobileNumber }: NumberRow, now: Date): Promise<void> {
  await sql`
    update mobile_numbers set replaced_at = ${now}, proven_by = null, proven_at = null, replaces_at = null
    where owner_id = ${ownerId} and mobile_number = ${mobileNumber}`;
}

export async function insertNumber(sql: Sql, row: NumberRow, now: Date): Promise<void> {
  await sql`
    delete from removed_numbers where owner_id = ${row.ownerId} and mobile_number = ${row.mobileNumber}`;
  await sql`
    insert into mobile_numbers (${columns(sql)}, created_at)
    values (${row.ownerId}, ${row.mobileNumber}, ${row.telephonyProvider}, ${row.carrierId},
      ${row.before && sql.json(row.before)}, ${row.provenBy}, ${row.provenAt}, ${row.replacedAt}, ${row.replacesAt}, ${now})`;
}

/** Replaces a number that the owner had added or proven, or imported from another carrier. */
export async function updateNumber(sql: Sql, row: NumberRow): Promise<void> {
  await sql`
    update mobile_numbers
    set telephony_provider = ${row.telephonyProvider}, carrier_id = ${row.carrierId}, before = ${row.before && sql.json(row.before)},
      proven_by = ${row.provenBy}, proven_at = ${row.provenAt}, replaced_at = ${row.replacedAt}, replaces_at = ${row.replacesAt}
    where owner_id = ${row.ownerId} and mobile_number = ${row.mobileNumber}`;
}

export async function findNumber(sql: Sql, ownerId: string, mobileNumber: string): Promise<NumberRow | null> {
  const [row] = await sql<NumberRow[]>`
    select ${columns(sql)} from mobile_numbers where owner_id = ${ownerId} and mobile_number = ${mobileNumber}`;
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
    select ${columns(sql)} from mobile_numbers where owner_id = ${ownerId} order by created_at, mobile_number`;
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
    returning ${columns(sql)}`;
  return row ?? null;
}

/** As many as an owner can have. */
const REMOVED_MAX = 1_000;

/** Remembers that the owner had a number, with the last ones that they removed. The owner must be locked. */
export async function rememberRemoved(tx: Sql, { ownerId, mobileNumber }: NumberRow, now: Date): Promise<void> {
  await tx`insert into removed_numbers (owner_id, mobile_number, removed_at) values (${ownerId}, ${mobileNumber}, ${now})
    on conflict do nothing`;
  await tx`
    delete from removed_numbers where owner_id = ${ownerId} and mobile_number in (
      select mobile_number from removed_numbers where owner_id = ${ownerId}
      order by removed_at desc offset ${REMOVED_MAX})`;
}

/** Which of the numbers the owner had: they removed them, or another owner replaced their claim. One may be on WhatsApp now. */
export async function listLostNumbers(sql: Sql, ownerId: string, numbers: readonly string[]): Promise<string[]> {
  const rows = await sql<Pick<NumberRow, "mobileNumber">[]>`
    select mobile_number from (
      select owner_id, mobile_number from removed_numbers
      union all select owner_id, mobile_number from mobile_numbers where replaced_at is not null
    ) as lost
    where owner_id = ${ownerId} and mobile_number = any(${numbers as string[]}) and not exists (
      select from carriers
      where carriers.owner_id = lost.owner_id and provider = 'WHATSAPP' and disconnected_at is null
        and settings ->> 'mobileNumber' = mobile_number)`;
  return rows.map(({ mobileNumber }) => mobileNumber);
}

/** Deletes an owner's imported numbers. */
export async function deleteImportedNumbers(sql: Sql, ownerId: string): Promise<NumberRow[]> {
  return sql<NumberRow[]>`
    delete from mobile_numbers where owner_id = ${ownerId} and carrier_id is not null
    returning ${columns(sql)}`;
}
