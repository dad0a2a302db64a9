import { afterAll, expect, test } from "bun:test";
import { createTestDatabase, EMPTY_TEMPLATE } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { failureOf } from "@parley/testkit/failures";
import { ConfigError } from "../src/config.ts";
import { type Database, openDatabase } from "../src/db/database.ts";
import { type Migration, migrate } from "../src/db/migrate.ts";

const FIRST: Migration = { name: "0001_first", sql: "create table first (n int); insert into first values (1)" };
const SECOND: Migration = { name: "0002_second", sql: "create table second (n int); insert into second values (1)" };

const testDatabase = await createTestDatabase(EMPTY_TEMPLATE);
const db = connect();
afterAll(async () => {
  await db.end();
  await testDatabase.drop();
});

test("twenty processes that start at once apply each migration once", async () => {
  const migrators = Array.from({ length: 20 }, connect);
  await Promise.all(migrators.map((migrator) => migrate(migrator, [FIRST, SECOND])));
  await Promise.all(migrators.map((migrator) => migrator.end()));
  expect(await ledger()).toEqual(["0001_first", "0002_second"]);
  expect([
    ...(await db`select (select count(*) from first) as first, (select count(*) from second) as second`),
  ]).toEqual([{ first: 1, second: 1 }]);
});

test("applied migrations stay unchanged, and new ones are added", async () => {
  const third = { name: "0003_third", sql: "create table third (n int)" };
  await migrate(db, [FIRST, SECOND]);
  await migrate(db, [FIRST, SECOND, third]);
  expect(await ledger()).toEqual(["0001_first", "0002_second", "0003_third"]);
  await db`drop table third`;
  await db`delete from migrations where name = '0003_third'`;
});

test("a migration may take longer than a statement of the service", async () => {
  await db`set statement_timeout = 1`;
  const slow = { name: "0003_slow", sql: "select pg_sleep(0.05)" };
  await migrate(db, [FIRST, SECOND, slow]);
  expect(await failureOf(db`select pg_sleep(5)`)).toMatchObject({ code: "57014" });
  await db`reset statement_timeout`;
  await db`delete from migrations where name = '0003_slow'`;
});

/** What a user does with a database that cannot be upgraded. */
const WHAT_TO_DO = ["deploy/backup.sh", "PARLEY_HOME=.parley-new bun run start", "empty Postgres volume"];

test("a database whose migrations have changed since, as those of an unreleased build may, is refused with what to do", async () => {
  const changed = { ...FIRST, sql: `${FIRST.sql} -- a comment` };
  const refusal = await failureOf(migrate(db, [changed, SECOND]));
  expect(refusal).toBeInstanceOf(ConfigError);
  expect(String(refusal)).toContain(
    "made by an unreleased build of Parley whose migration 0001_first has changed since",
  );
  for (const words of WHAT_TO_DO) expect(String(refusal)).toContain(words);
});

test("a build works with the additions of newer ones and leaves them unchanged", async () => {
  await migrate(db, [FIRST]);
  expect(await ledger()).toEqual(["0001_first", "0002_second"]);
});

test("a build that needs what a newer one removed is refused, the others are not", async () => {
  const taking = { name: "0003_taking_after_0002", sql: "drop table second" };
  await migrate(db, [FIRST, SECOND, taking]);
  expect(await failureOf(migrate(db, [FIRST]))).toEqual(
    new ConfigError(
      "this build does not work with the database, which has 0003_taking_after_0002: run a newer release",
    ),
  );
  await migrate(db, [FIRST, SECOND]);
  await db`delete from migrations where name = '0003_taking_after_0002'`;
  await db.unsafe(SECOND.sql);
});

test("a database of Parley 0.1 is refused with what to do, and stays as it is", async () => {
  const own = openDatabase({ url: testDatabase.urls.account, name: "migrate-test", max: 1 });
  // As the account service of 0.1.0 did.
  await migrate(own, [
    { name: "0000_jobs", sql: "create table jobs (owner_id text)" },
    { name: "0001_account", sql: "create table owners (owner_id text)" },
    { name: "0002_sessions", sql: "create table sessions (owner_id text)" },
  ]);
  const newer = [{ name: "0001_account", sql: "create table owners (owner_id text, name text)" }];
  const refusal = await failureOf(migrate(own, newer));
  expect(refusal).toBeInstanceOf(ConfigError);
  expect(String(refusal)).toContain("made by Parley 0.1 or a build of another branch (it has 0000_jobs)");
  for (const words of WHAT_TO_DO) expect(String(refusal)).toContain(words);
  expect([...(await own`select name from migrations order by name`)]).toHaveLength(3);
  await own.end();
});

test("a failed migration leaves nothing behind, nor do those applied with it", async () => {
  const fine = { name: "0003_fine", sql: "create table fine (n int)" };
  const broken = { name: "0004_broken", sql: "create table half (n int); select 1 / 0" };
  expect(await failureOf(migrate(db, [FIRST, SECOND, fine, broken]))).toMatchObject({ code: "22012" });
  expect(await ledger()).toEqual(["0001_first", "0002_second"]);
  const [left] = await db`select to_regclass('fine') as fine, to_regclass('half') as half`;
  expect(left).toEqual({ fine: null, half: null });
});

test("the first migration to fail leaves a schema as empty as it was", async () => {
  const other = openDatabase({ url: testDatabase.urls.agent, name: "migrate-test", max: 1 });
  expect(await failureOf(migrate(other, [{ name: "0001_broken", sql: "select 1 / 0" }]))).toMatchObject({
    code: "22012",
  });
  expect([...(await other`select to_regclass('migrations') as ledger`)]).toEqual([{ ledger: null }]);
  await other.end();
});

test("a migration and a transaction that need each other's tables both succeed", async () => {
  const alter = { name: "0003_alter", sql: "alter table first add column x int; alter table second add column x int" };
  const [admin, migrator] = [openDatabase({ url: testDatabase.adminUrl, name: "migrate-test", max: 2 }), connect()];
  let migrated = Promise.resolve();
  await admin.begin(async (tx) => {
    // Fails later than the migration if the two wait for each other.
    await tx`set local deadlock_timeout = '20s'`;
    await tx`insert into prompt.second values (2)`;
    migrated = migrate(migrator, [FIRST, SECOND, alter]);
    migrated.catch(() => {});
    await eventually(async () => {
      const waiting = await admin`select from pg_locks where relation = 'prompt.second'::regclass and not granted`;
      expect(waiting.count).toBe(1);
    });
    await tx`insert into prompt.first values (2)`;
  });
  await migrated;
  expect(await ledger()).toEqual(["0001_first", "0002_second", "0003_alter"]);
  await Promise.all([admin.end(), migrator.end()]);
});

function connect(): Database {
  return openDatabase({ url: testDatabase.urls.prompt, name: "migrate-test", max: 1 });
}

async function ledger(): Promise<string[]> {
  const rows = await db<{ name: string }[]>`select name from migrations order by name`;
  return rows.map((row) => row.name);
}
