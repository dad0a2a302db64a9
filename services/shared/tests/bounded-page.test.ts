import { afterAll, expect, test } from "bun:test";
import { createTestDatabase, EMPTY_TEMPLATE } from "@parley/testkit/database";
import { failureOf } from "@parley/testkit/failures";
import { readBoundedPage } from "../src/db/bounded-page.ts";
import { openDatabase } from "../src/db/database.ts";

const MIB = 1024 * 1024;

const database = await createTestDatabase(EMPTY_TEMPLATE);
const db = openDatabase({ url: database.urls.account, max: 1, name: "service" });
await db`create table notes (number integer, content text)`;
await db`insert into notes select number, repeat('a', ${MIB}) from generate_series(1, 20) as number`;
afterAll(async () => {
  await db.end();
  await database.drop();
});

/** A page of this many MiB. */
const read = (count: number) =>
  readBoundedPage<{ content: string }>(db, {
    rows: db`select number, content from notes order by number limit ${count}`,
    bytes: db`octet_length(content)`,
    order: db`order by number`,
  });

test("a page of 4 MiB is read, and a longer one is refused with what to ask for", async () => {
  expect(await read(4)).toHaveLength(4);
  expect(await failureOf(read(5))).toMatchObject({
    kind: "condition",
    message: "The response would be 5 MiB, above the limit of 4 MiB: ask for a smaller page_size",
  });
});
