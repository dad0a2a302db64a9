import type { Sql } from "@parley/shared/db/database";
import type { OwnedTable } from "@parley/shared/db/owned-rows";

/** What triggers count (0001_voice), for the deletion of an owner's rows. The numbers come before it. */
export const DO_NOT_CALL_TOTALS: OwnedTable = { name: "do_not_call_totals", key: ["owner_id"] };

export interface DoNotCallRow {
  mobileNumber: string;
  createdAt: Date;
}

/** @returns whether the number was not there */
export async function insertDoNotCall(
  sql: Sql,
  ownerId: string,
  { mobileNumber, createdAt }: DoNotCallRow,
): Promise<boolean> {
  const { count } = await sql`
    insert into do_not_call (owner_id, mobile_number, created_at) values (${ownerId}, ${mobileNumber}, ${createdAt})
    on conflict do nothing`;
  return count > 0;
}

export async function findListed(sql: Sql, ownerId: string, mobileNumber: string): Promise<DoNotCallRow | null> {
  const [row] = await sql<DoNotCallRow[]>`
    select mobile_number, created_at from do_not_call where owner_id = ${ownerId} and mobile_number = ${mobileNumber}`;
  return row ?? null;
}

/** @returns whether the number was there */
export async function deleteDoNotCall(sql: Sql, ownerId: string, mobileNumber: string): Promise<boolean> {
  const { count } = await sql`
    delete from do_not_call where owner_id = ${ownerId} and mobile_number = ${mobileNumber}`;
  return count > 0;
}

/** How all numbers begin. */
export const ALL = "+";

interface DoNotCallFilter {
  ownerId: string;
  /** The plus and the first digits of the numbers. */
  begins: string;
}

const matching = (sql: Sql, { ownerId, begins }: DoNotCallFilter) =>
  // All numbers are a plus and digits, so no collation has another order, and the primary key finds them.
  sql`owner_id = ${ownerId} and mobile_number between ${begins} and ${begins + "9".repeat(15)}`;

export async function listDoNotCall(
  sql: Sql,
  filter: DoNotCallFilter,
  page: { number: number; size: number },
): Promise<{ numbers: DoNotCallRow[]; total: number }> {
  const [numbers, total] = await Promise.all([
    sql<DoNotCallRow[]>`
      select mobile_number, created_at from do_not_call where ${matching(sql, filter)}
      order by mobile_number limit ${page.size} offset ${(page.number - 1) * page.size}`,
    filter.begins === ALL ? findDoNotCallTotal(sql, filter.ownerId) : countDoNotCall(sql, filter),
  ]);
  return { numbers, total };
}

async function countDoNotCall(sql: Sql, filter: DoNotCallFilter): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*) as total from do_not_call where ${matching(sql, filter)}`;
  return row?.total ?? 0;
}

/** Numbers on the owner's list, from the sum that is kept of them. */
export async function findDoNotCallTotal(sql: Sql, ownerId: string): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select bytes as total from do_not_call_totals where owner_id = ${ownerId}`;
  return row?.total ?? 0;
}
