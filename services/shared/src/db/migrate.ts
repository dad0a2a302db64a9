import type { Database } from "./database.ts";

export interface Migration {
  /** NNNN_name: its order and its name in the ledger. */
  name: string;
  sql: string;
}

/**
 * Brings the schema of the connection's role up to the newest migration: forward only, all in one transaction, safe for any
 * number of processes that start at once. Works through a transaction-mode pooler.
 * @throws when the ledger knows a migration that this build does not, or one whose text has changed since.
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
    refuseUnknown(applied, migrations);
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

function refuseUnknown(applied: Map<string, string>, migrations: readonly Migration[]): void {
  const own = new Set(migrations.map((migration) => migration.name));
  const unknown = [...applied.keys()].filter((name) => !own.has(name));
  if (unknown.length > 0) throw new Error(`the database is newer than this build: it has ${unknown.join(", ")}`);
}
