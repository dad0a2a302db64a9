import type { Sql } from "@parley/shared/db/database";
import { newId } from "@parley/shared/ids";

/** A new owner's id; other services than the account service need nothing more. */
export function newOwner(): string {
  return newId("own");
}

/** The number of an owner's rows in each table of the schema; tables without one are left out. */
export async function countOwnedRows(sql: Sql, ownerId: string): Promise<Record<string, number>> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.columns
    join information_schema.tables using (table_schema, table_name)
    where table_schema = current_schema() and column_name = 'owner_id' and table_type = 'BASE TABLE' order by 1`;
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const rows = await sql`select 1 from ${sql(name)} where owner_id = ${ownerId}`;
    if (rows.length > 0) counts[name] = rows.length;
  }
  return counts;
}
