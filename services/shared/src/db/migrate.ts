import type { Database } from "./database.ts";

export interface Migration {
  /**
   * NNNN_name: its order and its name in the ledger. Builds that do not know it go on with what it leaves, unless it takes away
   * what they use: then its name ends in `_after_NNNN`, the first migration whose builds do without.
   */
  name: string;
  sql: string;
}

/**
 * Brings the schema of the connection's role up to the newest migration: forward only, all in one transaction, safe for any
 * number of processes that start at once. Works through a transaction-mode pooler.
 * A database that newer builds have migrated is left as it is, so that a process which is still of the old release starts
 * during an upgrade, and after one that is taken back.
 * @throws when the ledger has a migration that this build cannot work with, or one whose text has changed since.
 */
export async function migrate(db: Database, migrations: readonly Migration[]): Promise<void> {
  await db.begin(async (tx) => {
    // An index of a large table takes its time, and whoever waits for it too.
    await tx`set local statement_timeout = 0`;
    await tx`select pg_advisory_xact_lock(hashtextextended('parley.migrate.' || current_schema(), 0))`;
    await tx`create table if not exists migrations (
      name text primary key,
      sha256 text not null,
      applied_at timestamptz not null default now()
    )`;
    const ledger = await tx<{ name: string; sha256: string }[]>`select name, sha256 from migrations order by name`;
    const applied = new Map(ledger.map((row) => [row.name, row.sha256]));
    refuseUnworkable(applied, migrations);
    for (const { name, sql } of migrations) {
      const sha256 = new Bun.CryptoHasher("sha256").update(sql).digest("hex");
      const known = applied.get(name);
      if (known === sha256) continue;
      if (known) throw new Error(`migration ${name} was changed after it was applied: add a new one instead`);
      await tx.unsafe(sql);
      await tx`insert into migrations (name, sha256) values (${name}, ${sha256})`;
    }
  });
}

function refuseUnworkable(applied: ReadonlyMap<string, string>, migrations: readonly Migration[]): void {
  const own = new Set(migrations.map((migration) => migration.name));
  const newest = Math.max(...migrations.map((migration) => numberOf(migration.name)));
  const works = (name: string) => own.has(name) || (numberOf(name) > newest && neededNumber(name) <= newest);
  const unworkable = [...applied.keys()].filter((name) => !works(name));
  if (unworkable.length > 0)
    throw new Error(
      `this build does not work with the database, which has ${unworkable.join(", ")}: run a newer release`,
    );
}

function numberOf(name: string): number {
  return Number.parseInt(name, 10);
}

function neededNumber(name: string): number {
  return Number(name.match(/_after_(\d{4})$/)?.[1] ?? 0);
}
