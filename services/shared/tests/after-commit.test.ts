import { afterAll, beforeEach, expect, test } from "bun:test";
import { createTestDatabase, EMPTY_TEMPLATE } from "@parley/testkit/database";
import { failureOf } from "@parley/testkit/failures";
import { afterCommit, poolOf } from "../src/db/after-commit.ts";
import { connectPostgres } from "../src/db/connect.ts";
import { openDatabase, type Sql } from "../src/db/database.ts";

const testDatabase = await createTestDatabase(EMPTY_TEMPLATE);
const db = openDatabase({ url: testDatabase.urls.conversation, name: "after-commit-test" });
await db`create table written (what text)`;
beforeEach(async () => {
  await db`truncate written`;
});
afterAll(async () => {
  await db.end();
  await testDatabase.drop();
});

async function write(sql: Sql, what: string): Promise<void> {
  await sql`insert into written values (${what})`;
}

/** What others see at that time. */
async function seen(): Promise<string[]> {
  const rows = await db<{ what: string }[]>`select what from written order by what`;
  return rows.map(({ what }) => what);
}

test("a function for after the commit is called when others see the changes, and not before", async () => {
  const called: Promise<string[]>[] = [];
  const result = await db.begin(async (tx) => {
    await write(tx, "one");
    afterCommit(tx, () => called.push(seen()));
    await write(tx, "two");
    expect(called).toBeEmpty();
    return "result";
  });
  expect(result).toBe("result");
  expect(await Promise.all(called)).toEqual([["one", "two"]]);
});

test("after a rollback it is not called", async () => {
  let called = 0;
  const failed = db.begin(async (tx) => {
    afterCommit(tx, () => called++);
    throw new Error("no");
  });
  expect(await failureOf(failed)).toHaveProperty("message", "no");
  expect(called).toBe(0);
});

test("in a savepoint it waits for the commit of the whole transaction", async () => {
  const called: string[] = [];
  await db.begin("isolation level read committed", async (tx) => {
    await tx.savepoint(async (inner) => {
      afterCommit(inner, () => called.push("in it"));
      await inner.savepoint(async (innermost) => afterCommit(innermost, () => called.push("further in")));
    });
    expect(called).toBeEmpty();
  });
  expect(called).toEqual(["in it", "further in"]);
});

test("with a pool it is called at once", () => {
  let called = 0;
  afterCommit(db, () => called++);
  expect(called).toBe(1);
});

test("a transaction knows its pool, and other connections have none", async () => {
  const pool = poolOf(db);
  expect(await db.begin((tx) => poolOf(tx) === pool)).toBe(true);
  expect(await db.begin((tx) => tx.savepoint((inner) => poolOf(inner) === pool))).toBe(true);
  const other = connectPostgres(testDatabase.urls.conversation, { max: 1 });
  expect(() => poolOf(other)).toThrow("Not a database of openDatabase");
  await other.end();
});
