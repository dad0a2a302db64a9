import type { Sql } from "./database.ts";

/** A table with rows of owners, not in partitions, which have the same places. */
export interface OwnedTable {
  name: string;
  /** The columns of the primary key after `owner_id`. */
  key: readonly string[];
  /** The most rows that one statement deletes, 1,000 by default: fewer if each may be long. */
  rows?: number;
}

const ROWS = 1_000;

/**
 * Deletes a part of an owner's rows, locked in order of their keys. By their places in the table, because otherwise Postgres reads
 * all of the owner's rows for each part.
 * @returns the number of rows found; 0 when none is left
 */
export async function deleteOwnedRows(sql: Sql, table: OwnedTable, ownerId: string): Promise<number> {
  const [row] = await sql<{ found: number }[]>`
    with taken as materialized (
      select ctid from ${sql(table.name)} where owner_id = ${ownerId}
      order by ${sql(table.key)} limit ${table.rows ?? ROWS} for update
    ), gone as (
      delete from ${sql(table.name)} where ctid = any(array(select ctid from taken))
    )
    select count(*)::integer as found from taken`;
  return row?.found ?? 0;
}
