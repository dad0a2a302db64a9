import { afterAll, expect, test } from "bun:test";
import { createTestDatabase, EMPTY_TEMPLATE } from "@parley/testkit/database";
import { failureOf } from "@parley/testkit/failures";
import { openDatabase } from "../src/db/database.ts";
import countStoredBytes from "../src/stored-bytes/count.sql" with { type: "text" };
import { lockStoredBytes, withinRoom } from "../src/stored-bytes/room.ts";
import storedBytesTable from "../src/stored-bytes/table.sql" with { type: "text" };

const SIZE = "octet_length(text)";
const ROOM = { bytesMax: 10, what: "Things", remedy: "delete some" };

const database = await createTestDatabase(EMPTY_TEMPLATE);
const db = openDatabase({ url: database.urls.agent, max: 10, name: "test" });
await db.unsafe(`${countStoredBytes}\n${storedBytesTable}`);
await db.unsafe(`
    create table things (owner_id text, name text, text text, primary key (owner_id, name));
    create trigger stored after insert on things referencing new table as added
      for each statement execute function count_stored_bytes('${SIZE}');
    create trigger resized after update on things referencing old table as removed new table as added
      for each statement execute function count_stored_bytes('${SIZE}');
    create trigger removed after delete on things referencing old table as removed
      for each statement execute function count_stored_bytes('${SIZE}');`);
afterAll(async () => {
  await db.end();
  await database.drop();
});

async function sums(): Promise<Record<string, number>> {
  const rows = await db<{ ownerId: string; bytes: number }[]>`select owner_id, bytes from stored_bytes order by 1`;
  return Object.fromEntries(rows.map(({ ownerId, bytes }) => [ownerId, bytes]));
}

const store = (ownerId: string, name: string, text: string) =>
  db.begin((tx) =>
    withinRoom(
      tx,
      ownerId,
      ROOM,
      () => tx`
        insert into things values (${ownerId}, ${name}, ${text})
        on conflict (owner_id, name) do update set text = excluded.text`,
    ),
  );

test("an owner's sum follows every statement that adds, changes or deletes rows, also of several owners", async () => {
  await db`insert into things values ('own_1', 'a', 'four'), ('own_1', 'b', 'six666'), ('own_2', 'a', 'ö')`;
  expect(await sums()).toEqual({ own_1: 10, own_2: 2 });
  await db`update things set text = 'longer than before' where name = 'a'`;
  expect(await sums()).toEqual({ own_1: 24, own_2: 18 });
  await db`delete from things where owner_id = 'own_1'`;
  expect(await sums()).toEqual({ own_1: 0, own_2: 18 });
});

test("writers of one owner at the same time do not exceed the limit together, and another owner's room is its own", async () => {
  const outcomes = await Promise.allSettled(
    Array.from({ length: 8 }, (_, at) => store("own_3", `thing ${at}`, "four")),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
  expect(await sums()).toMatchObject({ own_3: 8 });
  await store("own_4", "a", "ten bytes!");
});

test("a full owner is told what to do, may shorten what it has, and gets the room of what it deletes", async () => {
  await store("own_5", "a", "ten bytes!");
  expect(await failureOf(store("own_5", "b", "x"))).toMatchObject({
    kind: "conflict",
    detail: "Things would have more than 10 bytes together: delete some",
  });
  await db`insert into things values ('own_5', 'past the check', '20 bytes: over limit')`;
  await store("own_5", "a", "nine  !!!");
  await db.begin(async (tx) => {
    await lockStoredBytes(tx, "own_5");
    await tx`delete from things where owner_id = 'own_5'`;
  });
  await store("own_5", "b", "x");
  expect(await sums()).toMatchObject({ own_5: 1 });
});
