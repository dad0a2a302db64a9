import type { Sql } from "./database.ts";

/** A table with rows of owners. */
export interface OwnedTable {
  name: string;
  /** The columns of the primary key after `owner_id`. */
  key: readonly string[];
  /** The most rows that one statement deletes, 1,000 by default: fewer if each may be long. */
  rows?: number;
}

const ROWS = 1_000;

/** Deletes a part of an owner's rows. @returns the number deleted */
export async function deleteOwnedRows(sql: Sql, table: OwnedTable, ownerId: string): Promise<number> {
  const { count } = await sql`
    delete from ${sql(table.name)} where owner_id = ${ownerId} and (${sql(table.key)}) in (
      select ${sql(table.key)} from ${sql(table.name)} where owner_id = ${ownerId} limit ${table.rows ?? ROWS})`;
  return count;
}
