import { afterAll, expect, test } from "bun:test";
import { Duration } from "@parley/proto/google/protobuf/duration.ts";
import { fakeClock } from "@parley/testkit/clock";
import { createTestDatabase, EMPTY_TEMPLATE } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { serviceErrorOf } from "@parley/testkit/failures";
import { openDatabase, type Sql } from "../src/db/database.ts";
import { migrate } from "../src/db/migrate.ts";
import idempotencyBytes from "../src/idempotency/bytes.sql" with { type: "text" };
import { expiredKeys } from "../src/idempotency/keys.ts";
import { runIdempotent } from "../src/idempotency/run.ts";
import { IDEMPOTENCY_KEYS } from "../src/idempotency/store.ts";
import idempotencyTable from "../src/idempotency/table.sql" with { type: "text" };
import { newId } from "../src/ids.ts";
import countStoredBytes from "../src/stored-bytes/count.sql" with { type: "text" };

const BYTES_MAX = 1024 ** 3;
const DAY_MS = 24 * 60 * 60 * 1000;
const FULL = {
  kind: "rate_limited",
  detail:
    "The responses kept for your idempotency keys of the last 24 hours would have more than 1,073,741,824 bytes together: try again later, or without an Idempotency-Key",
  retryAfterMs: 60_000,
};
/** Two bytes as a message. */
const ANSWER = { seconds: 1, nanos: 0 };
const EMPTY = { seconds: 0, nanos: 0 };

const clock = fakeClock();

const testDatabase = await createTestDatabase(EMPTY_TEMPLATE);
const db = openDatabase({ url: testDatabase.urls.prompt, name: "idempotency-test" });
await migrate(db, [
  { name: "0001_idempotency", sql: [idempotencyTable, countStoredBytes, idempotencyBytes].join("\n") },
  { name: "0002_writes", sql: "create table writes (owner_id text)" },
]);

afterAll(async () => {
  await db.end();
  await testDatabase.drop();
});

function send(ownerId: string, key: string | null, write = (_tx: Sql) => Promise.resolve(ANSWER)): Promise<Duration> {
  const idempotency = key === null ? undefined : { key, fingerprint: Buffer.alloc(32) };
  return runIdempotent({ db, clock }, { ownerId, idempotency, codec: Duration, call: {} }, async (tx) => {
    await tx`insert into writes values (${ownerId})`;
    return write(tx);
  });
}

async function sumOf(ownerId: string): Promise<number | undefined> {
  const [row] = await db<{ bytes: number }[]>`select bytes from idempotency_bytes where owner_id = ${ownerId}`;
  return row?.bytes;
}

/** Leaves an owner room for this many bytes. */
async function fill(ownerId: string, left: number): Promise<void> {
  await db`
    insert into idempotency_bytes as known values (${ownerId}, ${BYTES_MAX - left})
    on conflict (owner_id) do update set bytes = excluded.bytes`;
}

async function writesOf(ownerId: string): Promise<number> {
  return (await db`select 1 from writes where owner_id = ${ownerId}`).length;
}

test("a full owner's write with a key is refused and leaves nothing; one without, a replay and another owner's write are not", async () => {
  const [owner, other] = [newId("own"), newId("own")];
  await send(owner, "first");
  await fill(owner, 1);
  expect(await serviceErrorOf(send(owner, "second"))).toMatchObject(FULL);
  expect(await writesOf(owner)).toBe(1);
  expect([...(await db`select idempotency_key from idempotency_keys where owner_id = ${owner}`)]).toEqual([
    { idempotencyKey: "first" },
  ]);
  expect(await sumOf(owner)).toBe(BYTES_MAX - 1);
  expect(await send(owner, "first")).toEqual(ANSWER);
  expect(await send(owner, "empty", async () => EMPTY)).toEqual(EMPTY);
  await send(owner, null);
  await send(other, "second");
  await fill(owner, 2);
  await send(owner, "second");
});

test("responses that are stored at the same time do not exceed the limit together", async () => {
  const owner = newId("own");
  await fill(owner, 5);
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, (_, at) => send(owner, `key ${at}`)));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
  expect(await sumOf(owner)).toBe(BYTES_MAX - 1);
  expect(await writesOf(owner)).toBe(2);
});

test("an expired response gives its room back when it is swept or replaced", async () => {
  const owner = newId("own");
  for (const key of ["swept", "replaced"]) await send(owner, key);
  expect(await sumOf(owner)).toBe(4);
  clock.advance(DAY_MS);
  await send(owner, "replaced", async () => EMPTY);
  expect(await sumOf(owner)).toBe(2);
  clock.advance(1);
  await expiredKeys(db, [IDEMPOTENCY_KEYS]).run(clock.now(), new AbortController().signal);
  expect(await sumOf(owner)).toBe(0);
});

test("a request that takes an expired key again does not deadlock with another request of its owner", async () => {
  const owner = newId("own");
  await send(owner, "old");
  clock.advance(DAY_MS);
  const lock = (tx: Sql) => tx`select pg_advisory_xact_lock(1)`;
  const locked = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const first = send(owner, "new", async (tx) => {
    await lock(tx);
    locked.resolve();
    await mayEnd.promise;
    return ANSWER;
  });
  await locked.promise;
  const second = send(owner, "old", async (tx) => {
    await lock(tx);
    return ANSWER;
  });
  await eventually(async () => {
    const blocked = await db`
      select 1 from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;
    expect(blocked).toHaveLength(1);
  });
  mayEnd.resolve();
  expect(await Promise.all([first, second])).toEqual([ANSWER, ANSWER]);
  expect(await sumOf(owner)).toBe(4);
});
