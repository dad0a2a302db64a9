import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Room, readBoundedPage } from "../src/db/bounded-page.ts";
import { type Database, openDatabase } from "../src/db/database.ts";
import { createTestDatabase, EMPTY_TEMPLATE, type TestDatabase } from "../src/testing/database.ts";
import { failureOf } from "../src/testing/failures.ts";

const MIB = 1024 * 1024;

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase(EMPTY_TEMPLATE);
  db = openDatabase({ url: database.urls.account, max: 1, name: "service" });
  await db`create table notes (number integer, content text)`;
  await db`insert into notes select number, repeat('a', ${MIB}) from generate_series(1, 20) as number`;
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

/** A page of this many MiB. */
const read = (count: number, room: Room) =>
  readBoundedPage<{ content: string }>(db, {
    rows: db`select number, content from notes order by number limit ${count}`,
    bytes: db`octet_length(content)`,
    order: db`order by number`,
    room,
  });

test("a page that does not fit in the room is not read, and says what it needs; then it fits", async () => {
  expect(await failureOf(read(3, { bytes: 2 * MIB, used: 0 }))).toMatchObject({ bytes: 3 * MIB });
  const room = { bytes: 3 * MIB, used: 0 };
  expect(await read(3, room)).toHaveLength(3);
  expect(room.used).toBe(3 * MIB);
});

test("pages that are read one after the other take from the same room", async () => {
  const room = { bytes: 4 * MIB, used: 0 };
  await read(3, room);
  expect(await failureOf(read(2, room))).toMatchObject({ bytes: 5 * MIB });
  expect(await read(1, room)).toHaveLength(1);
});

test("a page above the limit is refused, whatever room there is", async () => {
  for (const bytes of [MIB, 100 * MIB]) {
    expect(await failureOf(read(20, { bytes, used: 0 }))).toMatchObject({ kind: "condition" });
  }
});
