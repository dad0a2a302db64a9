import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Database, openDatabase } from "@parley/shared/db/database";
import type { Call } from "@parley/shared/rpc/call";
import { createTestDatabase, type TestDatabase } from "@parley/shared/testing/database";
import { failure } from "@parley/shared/testing/failures";
import { newOwner } from "@parley/shared/testing/owners";
import { addDoNotCall } from "../../src/rpc/add-do-not-call.ts";
import { outbound } from "./kit.ts";

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase({ url: database.urls.voice, name: "test" });
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

const served = {} as Call;

test("the do-not-call list finds a number or all that begin with some digits, page by page", async () => {
  const kit = outbound(db, {});
  const ownerId = newOwner();
  const all = ["+14155550100", "+14155550101", "+14155550109", "+141555501", "+4915112345678"];
  for (const mobileNumber of all) await kit.handlers.addDoNotCall?.({ ownerId, mobileNumber }, served);
  await kit.handlers.addDoNotCall?.({ ownerId: newOwner(), mobileNumber: "+14155550105" }, served);
  const find = async (search: string, page = { number: 1, size: 10 }) => {
    const found = await kit.handlers.listDoNotCall?.({ ownerId, page, search }, served);
    return [found?.numbers?.map(({ mobileNumber }) => mobileNumber), found?.total];
  };
  const begun = ["+141555501", "+14155550100", "+14155550101", "+14155550109"];
  expect(await find("+14155550101")).toEqual([["+14155550101"], 1]);
  expect(await find("+141555501")).toEqual([begun, 4]);
  expect(await find(" 1 (415) 555-01")).toEqual([begun, 4]);
  expect(await find("+1415", { number: 2, size: 3 })).toEqual([["+14155550109"], 4]);
  expect(await find("491")).toEqual([["+4915112345678"], 1]);
  expect(await find("")).toEqual([[...begun, "+4915112345678"], 5]);
  expect(await find("+1416")).toEqual([[], 0]);
  for (const wrong of ["Ada", "+", "0151", "1".repeat(16), "%", "+1_"])
    expect(await failure(find(wrong))).toMatchObject({ kind: "invalid", paths: ["search"] });
});

test("a number that is on a full list can be added again, and another one is refused", async () => {
  const add = addDoNotCall(outbound(db, {}).ctx, 2);
  const ownerId = newOwner();
  const [first, second] = ["+14155550100", "+14155550101"];
  const added = await add({ ownerId, mobileNumber: first }, served);
  await add({ ownerId, mobileNumber: second }, served);
  expect(await add({ ownerId, mobileNumber: first }, served)).toEqual(added);
  expect(await failure(add({ ownerId, mobileNumber: "+14155550102" }, served) as Promise<unknown>)).toMatchObject({
    kind: "condition",
  });
});
