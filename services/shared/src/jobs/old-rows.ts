import type { Database, Fragment, Sql } from "../db/database.ts";
import { oldestPlaces } from "../db/oldest-places.ts";
import type { Sweep } from "./sweeps.ts";

/** Rows of a table, not in partitions, that are deleted once they are old. */
export interface OldRows {
  table: string;
  /** The column that tells their age. */
  by: string;
  /** Whether that is a day, in UTC, instead of a time. */
  isDay?: boolean;
  /** How long they are kept after that, in milliseconds. */
  keptMs: number;
  /** Which of them; all by default. */
  where?: (sql: Sql) => Fragment;
  /** The most that one statement deletes, 1,000 by default: fewer if each may be long. */
  rows?: number;
}

const ROWS = 1_000;

/** A sweep that deletes old rows, of one table after the other. */
export function oldRows(db: Database, name: string, everyMs: number, tables: readonly OldRows[]): Sweep {
  return {
    name,
    everyMs,
    deletes: true,
    run: async (now, stopping) => {
      for (const table of tables)
        while (!stopping.aborted && (await deleteOldRows(db, table, now)) === (table.rows ?? ROWS));
    },
  };
}

/** Deletes some of the rows that are old. @returns the number deleted */
export async function deleteOldRows(
  sql: Sql,
  { table, by, isDay = false, keptMs, where: which, rows = ROWS }: OldRows,
  now: Date,
): Promise<number> {
  const before = new Date(now.getTime() - keptMs);
  const isOld = isDay ? sql`${sql(by)} < ${before.toISOString().slice(0, 10)}::date` : sql`${sql(by)} < ${before}`;
  const where = which ? sql`${isOld} and ${which(sql)}` : isOld;
  const { count } =
    await sql`delete from ${sql(table)} where ctid = any(${oldestPlaces(sql, table, { where, by, limit: rows })})`;
  return count;
}
