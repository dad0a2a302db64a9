import type { Fragment, Sql } from "./database.ts";

/**
 * The places of a table's oldest rows, locked, for `where ctid = any(…)`. Rows that another transaction has locked are left out.
 * In an array, because Postgres may run a subquery again for each row, which then takes more rows than the limit and quadratic time.
 * Not for a table in partitions, which have the same places.
 * @param where which rows
 * @param by the column that tells their age
 * @param limit the most rows
 */
export function oldestPlaces(
  sql: Sql,
  table: string,
  { where, by, limit }: { where: Fragment; by: string; limit: number },
): Fragment {
  return sql`array(
    select ctid from ${sql(table)} where ${where} order by ${sql(by)} limit ${limit} for update skip locked
  )`;
}
