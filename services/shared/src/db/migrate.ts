import postgres from "postgres";
import { ConfigError } from "../config.ts";
import type { Database } from "./database.ts";

export interface Migration {
  /**
   * NNNN_name: its order and its name in the ledger. Older builds keep working with its result. If it removes something
   * that they use, its name ends in `_after_NNNN`, the first migration whose builds do without.
   */
  name: string;
  sql: string;
}

/**
 * How long an attempt waits for the tables: less than Postgres' deadlock_timeout of a second, when it fails one of those that wait
 * for each other. Autovacuum gives way only to those who wait for longer, so some attempts do.
 */
const LOCK_WITHIN_MS = { first: 100, most: 500, everyTenth: 2_000 };
/** Time for the statements that have waited, and another one for each attempt. */
const RETRY_MS = { least: 100, most: 400 };
/** query_canceled, deadlock_detected */
const GAVE_UP = ["57014", "40P01"];

/**
 * Brings the schema of the connection's role up to the newest migration: forward only, all in one transaction, safe for
 * any number of processes that start at once. Works through a transaction-mode pooler. Leaves a database that newer
 * builds have migrated unchanged, so that an old release can start during an upgrade and after a rollback.
 *
 * Processes may use the tables in the meantime: their statements wait. To avoid a deadlock with a transaction that waits for a
 * locked table, it locks every table first, and releases all of them if that takes long.
 * @throws ConfigError when the ledger has migrations that this build cannot work with, as a database of 0.1 has, or whose text has changed
 *   since it was applied
 */
export async function migrate(db: Database, migrations: readonly Migration[]): Promise<void> {
  await db.begin(async (tx) => {
    // Building an index on a large table takes long, for this process and for those waiting.
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
    if (migrations.some(({ name }) => !applied.has(name))) await lockTables(tx);
    for (const { name, sql } of migrations) {
      const sha256 = sha256Of(sql);
      const known = applied.get(name);
      if (known === sha256) continue;
      if (known)
        throw new ConfigError(
          `the database was made by an unreleased build of Parley whose migration ${name} has changed since. ${HELP}` +
            " If you changed the migration yourself, add a new one instead.",
        );
      await tx.unsafe(sql);
      await tx`insert into migrations (name, sha256) values (${name}, ${sha256})`;
    }
  });
}

const HELP =
  "This build cannot upgrade it. To keep its data, back it up (deploy/backup.sh, or a copy of the folder PARLEY_HOME) or go on " +
  "with the build that made it. To use this build, start with a new database: in one command, " +
  "PARLEY_HOME=.parley-new bun run start; for containers, with an empty Postgres volume.";

/** By which the ledger and `deploy/releases` know a migration's text. */
export function sha256Of(sql: string): string {
  return new Bun.CryptoHasher("sha256").update(sql).digest("hex");
}

async function lockTables(tx: postgres.TransactionSql): Promise<void> {
  // First those whose triggers use others, as statements that change them do.
  const tables = await tx<{ name: string }[]>`
    select quote_ident(relname) as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and relname <> 'migrations'
    order by (select count(*) from pg_trigger where tgrelid = pg_class.oid and not tgisinternal) desc, relname`;
  if (tables.length === 0) return;
  const list = tables.map(({ name }) => name).join(", ");
  for (let attempt = 1; !(await isLocked(tx, list, patience(attempt))); attempt++)
    await Bun.sleep(RETRY_MS.least + Math.random() * (RETRY_MS.most - RETRY_MS.least));
}

/** Locks all tables or, if that takes too long, none. */
async function isLocked(tx: postgres.TransactionSql, tables: string, withinMs: number): Promise<boolean> {
  try {
    await tx.savepoint(async (attempt) => {
      await attempt.unsafe(`set local statement_timeout = ${withinMs}`);
      await attempt.unsafe(`lock table ${tables} in access exclusive mode`);
      await attempt`set local statement_timeout = 0`;
    });
    return true;
  } catch (error) {
    if (error instanceof postgres.PostgresError && GAVE_UP.includes(error.code)) return false;
    throw error;
  }
}

function patience(attempt: number): number {
  const { first, most, everyTenth } = LOCK_WITHIN_MS;
  return attempt % 10 === 0 ? everyTenth : Math.min(attempt * first, most);
}

function refuseUnworkable(applied: ReadonlyMap<string, string>, migrations: readonly Migration[]): void {
  const own = new Set(migrations.map((migration) => migration.name));
  const newest = Math.max(...migrations.map((migration) => numberOf(migration.name)));
  const others = [...applied.keys()].filter((name) => !own.has(name));
  const unknown = others.filter((name) => numberOf(name) <= newest);
  if (unknown.length > 0)
    throw new ConfigError(
      `the database was made by Parley 0.1 or a build of another branch (it has ${unknown.join(", ")}). ${HELP}`,
    );
  const unworkable = others.filter((name) => neededNumber(name) > newest);
  if (unworkable.length > 0)
    throw new ConfigError(
      `this build does not work with the database, which has ${unworkable.join(", ")}: run a newer release`,
    );
}

function numberOf(name: string): number {
  return Number.parseInt(name, 10);
}

function neededNumber(name: string): number {
  return Number(name.match(/_after_(\d{4})$/)?.[1] ?? 0);
}
