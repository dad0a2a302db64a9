import { afterAll, expect, test } from "bun:test";
import { type Database, openDatabase } from "@parley/shared/db/database";
import type { Call as Served } from "@parley/shared/rpc/call";
import { createTestDatabase } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import { countingReads } from "@parley/testkit/statement-cost/reads";
import { addDoNotCall } from "../../src/rpc/add-do-not-call.ts";
import { listDoNotCall } from "../../src/rpc/list-do-not-call.ts";
import { removeDoNotCall } from "../../src/rpc/remove-do-not-call.ts";
import { outbound } from "./kit.ts";

const served = {} as Served;
const FIRST = "+14155550100";
const SECOND = "+14155550101";
const THIRD = "+14155550102";

const database = await createTestDatabase();
const db = openDatabase({ url: database.urls.voice, name: "test" });
afterAll(async () => {
  await db.end();
  await database.drop();
});

async function insertMany(sql: Database, ownerId: string, count: number): Promise<void> {
  await sql`
    insert into do_not_call (owner_id, mobile_number, created_at)
    select ${ownerId}, '+49151' || 10000000 + number, now() from generate_series(1, ${count}::integer) as number`;
}

test("adding a number, and a page of the list, read no more of the list than they return", async () => {
  const ownerId = newOwner();
  await insertMany(db, ownerId, 3_000);
  await db`analyze do_not_call`;
  const added = await countingReads(db, "do_not_call", (within) =>
    addDoNotCall(outbound(within).ctx)({ ownerId, mobileNumber: FIRST }, served),
  );
  expect(added.read).toBeLessThan(10);
  const page = { number: 1, size: 2 };
  const listed = await countingReads(db, "do_not_call", (within) =>
    listDoNotCall(outbound(within).ctx)({ ownerId, page, search: "" }, served),
  );
  expect(listed).toMatchObject({ result: { numbers: [{ mobileNumber: FIRST }, {}], total: 3_001 }, read: 2 });
});

test("numbers that are added at the same time do not exceed the limit together, and a removal makes room", async () => {
  const { ctx } = outbound(db);
  const add = addDoNotCall(ctx, 2);
  const ownerId = newOwner();
  await add({ ownerId, mobileNumber: FIRST }, served);
  let adding: Promise<unknown> | undefined;
  await db.begin(async (tx) => {
    // What another process is adding.
    await tx`insert into do_not_call (owner_id, mobile_number, created_at) values (${ownerId}, ${SECOND}, now())`;
    adding = Promise.resolve(add({ ownerId, mobileNumber: THIRD }, served)).catch((error) => error);
    await eventually(async () => {
      const waiting = await db`
        select 1 from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;
      expect(waiting).toHaveLength(1);
    });
  });
  expect(await adding).toMatchObject({ kind: "condition" });
  const list = () => listDoNotCall(ctx)({ ownerId, page: { number: 1, size: 10 }, search: "" }, served);
  expect(await list()).toMatchObject({ numbers: [{ mobileNumber: FIRST }, { mobileNumber: SECOND }], total: 2 });
  await removeDoNotCall(ctx)({ ownerId, mobileNumber: FIRST }, served);
  await add({ ownerId, mobileNumber: THIRD }, served);
  expect(await list()).toMatchObject({ numbers: [{ mobileNumber: SECOND }, { mobileNumber: THIRD }], total: 2 });
});
