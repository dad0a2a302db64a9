import { afterEach, expect, test } from "bun:test";
import { createTestDatabase, EMPTY_TEMPLATE } from "@parley/testkit/database";
import { type Database, openDatabase } from "../src/db/database.ts";
import { type Migration, migrate } from "../src/db/migrate.ts";
import idempotency from "../src/idempotency/table.sql" with { type: "text" };
import { IDEMPOTENCY_BYTES, STORED_BYTES_TABLE } from "../src/stored-bytes/migrations.ts";
import formerIdempotencyBytes from "./fixtures/former-idempotency-bytes.sql" with { type: "text" };
import formerStoredBytes from "./fixtures/former-stored-bytes.sql" with { type: "text" };

const KEYS: Migration = { name: "0000_idempotency", sql: idempotency };
const THINGS: Migration = {
  name: "0002_things",
  sql: `create table things (owner_id text, text text);
    create trigger stored after insert on things referencing new table as added
      for each statement execute function count_stored_bytes('octet_length(text)')`,
};
const STORED = "0001_stored_bytes";
const OF_KEYS = "0003_idempotency_bytes";
/** The migrations as they are, and as they were first, of a service with both sums and of one with the second only. */
const SERVICES = {
  both: {
    now: [KEYS, { name: STORED, ...STORED_BYTES_TABLE }, THINGS, { name: OF_KEYS, ...IDEMPOTENCY_BYTES }],
    first: [KEYS, { name: STORED, sql: formerStoredBytes }, THINGS, { name: OF_KEYS, sql: formerIdempotencyBytes }],
  },
  one: {
    now: [KEYS, { name: OF_KEYS, ...IDEMPOTENCY_BYTES }],
    first: [KEYS, { name: OF_KEYS, sql: formerIdempotencyBytes }],
  },
};
const CASES = Object.entries(SERVICES).flatMap(([name, { now, first }]) =>
  first.map((_, at) => ({ name, applied: at + 1, now, first })),
);

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function emptyDatabase(): Promise<Database> {
  const database = await createTestDatabase(EMPTY_TEMPLATE);
  const db = openDatabase({ url: database.urls.agent, max: 1, name: "test" });
  closing.push(database.drop, () => db.end());
  return db;
}

/** What migrations have left: the ledger, columns, functions and triggers. */
async function schemaOf(db: Database) {
  return {
    ledger: [...(await db`select name, sha256 from migrations order by name`)],
    columns: [
      ...(await db`
        select table_name, column_name, data_type, is_nullable from information_schema.columns
        where table_schema = current_schema() order by 1, ordinal_position`),
    ],
    functions: [
      ...(await db`
        select pg_get_functiondef(oid) from pg_proc where pronamespace = current_schema()::regnamespace order by 1`),
    ],
    triggers: [
      ...(await db`
        select pg_get_triggerdef(pg_trigger.oid) from pg_trigger join pg_class on pg_class.oid = tgrelid
        where relnamespace = current_schema()::regnamespace and not tgisinternal order by 1`),
    ],
  };
}

test.each(CASES)(
  "a database of the migrations' first texts ($name, $applied applied) gets the schema that an empty one gets",
  async ({ applied, now, first }) => {
    const [upgraded, fresh] = [await emptyDatabase(), await emptyDatabase()];
    await migrate(upgraded, first.slice(0, applied));
    await migrate(upgraded, now);
    await migrate(fresh, now);
    expect(await schemaOf(upgraded)).toEqual(await schemaOf(fresh));
    expect((await schemaOf(fresh)).functions).not.toBeEmpty();
  },
);

test("a build with the migrations' first texts works with a database that this one made", async () => {
  const db = await emptyDatabase();
  await migrate(db, SERVICES.both.now);
  await migrate(db, SERVICES.both.first);
});
