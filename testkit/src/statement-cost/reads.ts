import type { Database, Sql } from "@parley/shared/db/database";

/**
 * Runs work in a transaction of `db` and tells how many rows of a table, or entries of its indexes, it read: what a statement costs,
 * whatever the machine does. The tables and their statistics stay as they are; `countingHandled` is for statistics that are old.
 * @param db without other transactions on its connection, whose reads of the last second may count too
 * @param work gets a database whose transactions are parts of the one that is looked into
 */
export async function countingReads<T>(
  db: Database,
  table: string,
  work: (within: Database) => Promise<T>,
): Promise<{ result: T; read: number }> {
  return db.begin(async (tx) => {
    // What a parallel worker reads counts in its own process.
    await tx`set local max_parallel_workers_per_gather = 0`;
    const begin = (first: unknown, second?: unknown) =>
      tx.savepoint((second ?? first) as (sql: Sql) => Promise<unknown>);
    const before = await readsOf(tx, table);
    const result = await work(Object.assign(tx, { begin }) as unknown as Database);
    return { result, read: (await readsOf(tx, table)) - before };
  }) as Promise<{ result: T; read: number }>;
}

async function readsOf(tx: Sql, table: string): Promise<number> {
  const [row] = await tx<{ read: number }[]>`
    select sum(pg_stat_get_xact_tuples_returned(oid))::integer as read from (
      select ${table}::text::regclass as oid
      union all select indexrelid from pg_index where indrelid = ${table}::text::regclass
    ) as relations`;
  return row?.read ?? 0;
}
