import { afterAll, beforeAll, expect, test } from "bun:test";
import { createTestDatabase, EMPTY_TEMPLATE, type TestDatabase } from "@parley/testkit/database";
import { arraysOf } from "../src/db/arrays-of.ts";
import { type Database, openDatabase } from "../src/db/database.ts";
import { plainArray } from "../src/db/plain-array.ts";

/** Plans of a prepared statement that Postgres makes for the values at hand before it considers one for any values. */
const CUSTOM_PLANS = 5;

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase(EMPTY_TEMPLATE);
  db = openDatabase({ url: database.urls.account, max: 1, name: "service" });
  await db`create table notes (owner_id text, number integer, primary key (owner_id, number))`;
  await db`insert into notes select 'own_' || number % 100, number from generate_series(1, 10000) as number`;
  await db`analyze notes`;
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

test("a statement with arrays is soon planned no more, however short they are", async () => {
  for (let time = 0; time < 2 * CUSTOM_PLANS; time++) {
    const array = arraysOf(db);
    await db`select owner_id from notes where (owner_id, number) in (
      select * from unnest(${array.text(["own_1"])}, ${array.integer([101])})) and owner_id = any(${array.text(["own_1"])})`;
  }
  const [plans] = await db`
    select custom_plans, generic_plans from pg_prepared_statements where statement like 'select owner_id from notes%'`;
  expect(plans).toEqual({ customPlans: CUSTOM_PLANS, genericPlans: CUSTOM_PLANS });
});

test("arrays hold every value, also given as text or without any", async () => {
  const array = arraysOf(db);
  const time = "2026-01-02T03:04:05.000Z";
  const id = "00000000-0000-7000-8000-000000000001";
  const [row] = await db`
    select to_json(${array.text(['a "b", {c}\\', null])}) as texts, to_json(${array.integer(plainArray([1, null]))}) as integers,
      ${array.uuid([id])} as uuids, ${array.timestamptz(plainArray([time]))} as times, ${array.text([])} as none`;
  expect(row).toEqual({
    texts: ['a "b", {c}\\', null],
    integers: [1, null],
    uuids: [id],
    times: [new Date(time)],
    none: [],
  });
});
