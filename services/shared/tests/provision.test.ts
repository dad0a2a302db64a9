import { afterAll, describe, expect, test } from "bun:test";
import { createTestDatabase, TEST_SECRET } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { failureOf } from "@parley/testkit/failures";
import { type Database, openDatabase, type Sql } from "../src/db/database.ts";
import { provision, roleUrls, SCHEMAS, type Schema } from "../src/db/provision.ts";
import { isUnreachableDatabase } from "../src/db/unreachable.ts";

const DENIED = { code: "42501" };

const testDatabase = await createTestDatabase();
const roles = connectAll(testDatabase.urls);
for (const schema of SCHEMAS) {
  await roles[schema].unsafe(
    `create table secrets_of_${schema} (text text); insert into secrets_of_${schema} values ('s')`,
  );
}
afterAll(async () => {
  await endAll(roles);
  await testDatabase.drop();
});

const PAIRS = SCHEMAS.flatMap((own) => SCHEMAS.filter((other) => other !== own).map((other) => [own, other] as const));

describe.each(PAIRS)("the role of %s", (own, other) => {
  const table = `${other}.secrets_of_${other}`;

  test(`can neither read nor write, change or add anything of ${other}`, async () => {
    for (const statement of [
      `select * from ${table}`,
      `select count(*) from ${table}`,
      `insert into ${table} values ('x')`,
      `update ${table} set text = 'x'`,
      `delete from ${table}`,
      `truncate ${table}`,
      `drop table ${table}`,
      `copy ${table} to stdout`,
      `create table ${other}.planted (n int)`,
      `create view ${own}.window as select * from ${table}`,
      `grant usage on schema ${other} to public`,
    ]) {
      expect({ statement, failure: await failureOf(roles[own].unsafe(statement)) }).toMatchObject({ failure: DENIED });
    }
  });

  test(`sees nothing of ${other} in the information schema or the statistics, and cannot become its role`, async () => {
    const [seen] = await roles[own]`
      select
        (select count(*) from information_schema.tables where table_schema = ${other}) as tables,
        (select count(*) from information_schema.columns where table_schema = ${other}) as columns,
        (select count(*) from pg_stats where schemaname = ${other}) as statistics`;
    expect(seen).toEqual({ tables: 0, columns: 0, statistics: 0 });
    const [{ role }] = (await roles[other]`select current_user as role`) as unknown as [{ role: string }];
    expect(await failureOf(roles[own].unsafe(`set role "${role}"`))).toMatchObject(DENIED);
  });
});

test.each([...SCHEMAS])(
  "the role of %s works in its own schema by default, and can create nothing outside it and no other role",
  async (own) => {
    const [row] = await roles[own]`select current_schema() as schema`;
    expect(row).toEqual({ schema: own });
    for (const statement of ["create table public.planted (n int)", "create schema planted", "create role planted"])
      expect({ statement, failure: await failureOf(roles[own].unsafe(statement)) }).toMatchObject({ failure: DENIED });
    // Every role may use the extensions in the public schema.
    expect([...(await roles[own]`select similarity('agent', 'agents') > 0.5 as similar`)]).toEqual([{ similar: true }]);
  },
);

test.each([...SCHEMAS])("an abandoned statement of %s ends, unless its transaction raised the timeout", async (own) => {
  const timeout = (sql: Sql) => sql`select current_setting('statement_timeout') as timeout`;
  expect([...(await timeout(roles[own]))]).toEqual([{ timeout: "15s" }]);
  const raised = roles[own].begin(async (tx) => {
    await tx`set local statement_timeout = 0`;
    return timeout(tx);
  });
  expect([...(await raised)]).toEqual([{ timeout: "0" }]);
  expect([...(await timeout(roles[own]))]).toEqual([{ timeout: "15s" }]);
});

test("statements of the conversation service and the webhook dispatcher keep their plans, and others are planned each time", async () => {
  const keeping = await Promise.all(
    SCHEMAS.map(async (own) => {
      const connection = await roles[own].reserve();
      // Postgres considers a plan for any values after five for those at hand.
      for (let time = 0; time < 6; time++) await connection`select ${time}::integer as kept`;
      const [plans] =
        await connection`select generic_plans from pg_prepared_statements where statement like '%as kept'`;
      connection.release();
      return { own, isKept: Number(plans?.genericPlans) > 0 };
    }),
  );
  expect(keeping.filter(({ isKept }) => isKept).map(({ own }) => own)).toEqual(["conversation", "webhook"]);
});

test.each([...SCHEMAS])("an idle transaction of %s releases its locks", async (own) => {
  const [row] = await roles[own]`select current_setting('idle_in_transaction_session_timeout') as timeout`;
  expect(row).toEqual({ timeout: "30s" });
  const stalled = roles[own].begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(1)`;
    await tx`set local idle_in_transaction_session_timeout = 1`;
    await eventually(async () => {
      const [lock] = await roles[own]`select count(*) as held from pg_locks
        where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`;
      expect(lock).toEqual({ held: 0 });
    });
    return tx`select 1`;
  });
  expect(isUnreachableDatabase(await failureOf(stalled))).toBeTrue();
});

test("twenty concurrent provisions make one installation, and a later one changes nothing", async () => {
  const name = `p_${Bun.randomUUIDv7("hex").slice(-16)}`;
  const admin = openDatabase({ url: testDatabase.adminUrl, name: "provision-test", max: 1 });
  const url = Object.assign(new URL(testDatabase.adminUrl), { pathname: `/${name}` }).toString();
  await admin`create database ${admin(name)}`;
  await Promise.all(Array.from({ length: 20 }, () => provision(url, TEST_SECRET)));
  const own = connectAll(roleUrls(url, TEST_SECRET));
  for (const schema of SCHEMAS) await own[schema]`create table kept (n int)`;
  await provision(url, TEST_SECRET);
  for (const schema of SCHEMAS) expect([...(await own[schema]`select * from kept`)]).toEqual([]);
  await endAll(own);
  await dropInstallation(admin, name);
  await admin.end();
});

test("an administrator without superuser rights can provision its own database", async () => {
  const name = `p_${Bun.randomUUIDv7("hex").slice(-16)}`;
  const admin = openDatabase({ url: testDatabase.adminUrl, name: "provision-test", max: 1 });
  await admin`create role ${admin(name)} login createrole password 'test'`;
  await admin`create database ${admin(name)} owner ${admin(name)}`;
  const url = new URL(testDatabase.adminUrl);
  Object.assign(url, { username: name, password: "test", pathname: `/${name}` });
  await provision(url.toString(), TEST_SECRET);
  await provision(url.toString(), TEST_SECRET);
  const own = connectAll(roleUrls(url.toString(), TEST_SECRET));
  for (const schema of SCHEMAS) {
    expect([...(await own[schema]`select current_schema() as schema`)]).toEqual([{ schema }]);
  }
  await endAll(own);
  await dropInstallation(admin, name);
  await admin`drop role ${admin(name)}`;
  await admin.end();
});

function connectAll(urls: Record<Schema, string>): Record<Schema, Database> {
  const opened = SCHEMAS.map((schema) => [schema, openDatabase({ url: urls[schema], name: "provision-test", max: 1 })]);
  return Object.fromEntries(opened) as Record<Schema, Database>;
}

async function endAll(databases: Record<Schema, Database>): Promise<void> {
  await Promise.all(Object.values(databases).map((database) => database.end()));
}

async function dropInstallation(admin: Database, name: string): Promise<void> {
  await admin`drop database ${admin(name)} with (force)`;
  for (const schema of SCHEMAS) await admin`drop role ${admin(`${name}_${schema}`)}`;
}
