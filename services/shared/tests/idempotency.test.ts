import { afterAll, describe, expect, test } from "bun:test";
import { Duration } from "@parley/proto/google/protobuf/duration.ts";
import { fakeClock } from "@parley/testkit/clock";
import { createTestDatabase, EMPTY_TEMPLATE } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { type Database, openDatabase, type Sql } from "../src/db/database.ts";
import { migrate } from "../src/db/migrate.ts";
import { type ErrorKind, ServiceError } from "../src/errors.ts";
import idempotencyBytes from "../src/idempotency/bytes.sql" with { type: "text" };
import { runIdempotent } from "../src/idempotency/run.ts";
import idempotencyTable from "../src/idempotency/table.sql" with { type: "text" };
import { newId } from "../src/ids.ts";
import countStoredBytes from "../src/stored-bytes/count.sql" with { type: "text" };

const HOUR_MS = 60 * 60 * 1000;
const clock = fakeClock();

const testDatabase = await createTestDatabase(EMPTY_TEMPLATE);
const open = () => openDatabase({ url: testDatabase.urls.prompt, name: "idempotency-test" });
/** Each acts as the connections of one process. */
const [db, otherDb] = [open(), open()];
await migrate(db, [
  { name: "0001_idempotency", sql: [idempotencyTable, countStoredBytes, idempotencyBytes].join("\n") },
  { name: "0002_writes", sql: "create table writes (owner_id text, seconds integer)" },
]);

afterAll(async () => {
  await Promise.all([db.end(), otherDb.end()]);
  await testDatabase.drop();
});

interface Request {
  ownerId: string;
  key: string | null;
  body: string;
  pool: Database;
}

/** One request of a new owner; the given fields replace the defaults. */
function request(given: Partial<Request> = {}): Request {
  return { ownerId: newId("own"), key: "key-1", body: "body", pool: db, ...given };
}

/** Runs a request, and returns how it ended, whether that was a replay, and whether the write ran. */
async function send(
  { ownerId, key, body, pool }: Request,
  write: (tx: Sql) => Promise<Duration> = insertOne(ownerId, 1),
) {
  const call: { replayed?: boolean } = {};
  const idempotency =
    key === null ? undefined : { key, fingerprint: new Bun.CryptoHasher("sha256").update(body).digest() };
  let ran = false;
  const [outcome] = await Promise.allSettled([
    runIdempotent({ db: pool, clock }, { ownerId, idempotency, codec: Duration, call }, (tx) => {
      ran = true;
      return write(tx);
    }),
  ]);
  return { outcome, ran, replayed: call.replayed ?? false };
}

function insertOne(ownerId: string, seconds: number) {
  return async (tx: Sql): Promise<Duration> => {
    await tx`insert into writes (owner_id, seconds) values (${ownerId}, ${seconds})`;
    return { seconds, nanos: 0 };
  };
}

async function writesOf(ownerId: string): Promise<number> {
  const [row] = await db<{ count: number }[]>`select count(*) as count from writes where owner_id = ${ownerId}`;
  return row?.count ?? 0;
}

function answer(seconds: number): PromiseSettledResult<Duration> {
  return { status: "fulfilled", value: { seconds, nanos: 0 } };
}

test("a repeated request gets the first one's response and writes nothing", async () => {
  const sent = request();
  expect(await send(sent, insertOne(sent.ownerId, 7))).toEqual({ outcome: answer(7), ran: true, replayed: false });
  const again = await send({ ...sent, pool: otherDb }, insertOne(sent.ownerId, 8));
  expect(again).toEqual({ outcome: answer(7), ran: false, replayed: true });
  expect(await writesOf(sent.ownerId)).toBe(1);
});

test("a repeated request gets an empty response again", async () => {
  const sent = request();
  await send(sent, insertOne(sent.ownerId, 0));
  expect(await send(sent)).toEqual({ outcome: answer(0), ran: false, replayed: true });
});

test("a repeated request with another body is refused, and the first response stays available", async () => {
  const sent = request();
  await send(sent);
  const refused = await send({ ...sent, body: "another" });
  expect(refused).toMatchObject({
    outcome: { reason: { kind: "invalid", violations: [{ path: "Idempotency-Key" }] } },
    ran: false,
    replayed: false,
  });
  expect(await send(sent)).toMatchObject({ outcome: answer(1), replayed: true });
});

test("a repeated request with another owner's equal key is a separate request", async () => {
  const sent = request();
  await send(sent);
  const other = request({ body: "another" });
  expect(await send(other)).toMatchObject({ outcome: answer(1), ran: true, replayed: false });
});

test("a repeated request without a key runs each time", async () => {
  const sent = request({ key: null });
  await send(sent);
  expect(await send(sent)).toMatchObject({ ran: true, replayed: false });
  expect(await writesOf(sent.ownerId)).toBe(2);
});

describe("a refusal", () => {
  test.each(["invalid", "condition", "not_found", "conflict"] satisfies ErrorKind[])(
    "of kind %s is replayed whole even if the state has changed, and left nothing behind",
    async (kind) => {
      const sent = request();
      const facts = { violations: [{ path: "name", message: "name is taken" }], metadata: { session_id: "s" } };
      const refuse = async (tx: Sql) => {
        await insertOne(sent.ownerId, 1)(tx);
        throw new ServiceError(kind, "name is taken", facts);
      };
      const refused: PromiseRejectedResult = {
        status: "rejected",
        reason: expect.objectContaining({ kind, detail: "name is taken", ...facts }),
      };
      expect(await send(sent, refuse)).toEqual({ outcome: refused, ran: true, replayed: false });
      const again = await send(sent);
      expect(again).toEqual({ outcome: refused, ran: false, replayed: true });
      expect(again.outcome.status === "rejected" && again.outcome.reason).toBeInstanceOf(ServiceError);
      expect(await writesOf(sent.ownerId)).toBe(0);
    },
  );

  test.each([
    ["unavailable", new ServiceError("unavailable", "try again")],
    ["rate limited", new ServiceError("rate_limited", "slow down")],
    ["forbidden", new ServiceError("forbidden", "not yours")],
    ["a provider's", new ServiceError("upstream_failed", "the provider failed")],
    ["a fault", new Error("a fault")],
  ])("that may pass is not stored: %s", async (_, error) => {
    const sent = request();
    const failed = await send(sent, async (tx) => {
      await insertOne(sent.ownerId, 1)(tx);
      throw error;
    });
    expect(failed).toMatchObject({ outcome: { reason: error }, replayed: false });
    expect(await send(sent)).toEqual({ outcome: answer(1), ran: true, replayed: false });
    expect(await writesOf(sent.ownerId)).toBe(1);
  });

  test("by the database is not stored either", async () => {
    const sent = request();
    await send(sent, async (tx) => {
      await tx`select 1 / 0`;
      return insertOne(sent.ownerId, 1)(tx);
    });
    expect(await send(sent)).toEqual({ outcome: answer(1), ran: true, replayed: false });
  });
});

describe("a second request while the first still runs", () => {
  /** Starts a first request that ends when told, and a second one that demonstrably waits for it. */
  async function overlap(end: (tx: Sql) => Promise<Duration>, sent: Request, second: Request) {
    const entered = Promise.withResolvers<void>();
    const mayEnd = Promise.withResolvers<void>();
    const first = send(sent, async (tx) => {
      entered.resolve();
      await mayEnd.promise;
      return end(tx);
    });
    await entered.promise;
    const waiting = send(second, insertOne(second.ownerId, 2));
    await eventually(async () => {
      const blocked = await db`select 1 from pg_stat_activity
        where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;
      expect(blocked.length).toBe(1);
    });
    mayEnd.resolve();
    return { first: await first, second: await waiting };
  }

  test("waits for it, in another process too, and gets its response", async () => {
    for (const pool of [db, otherDb]) {
      const sent = request();
      const { first, second } = await overlap(insertOne(sent.ownerId, 1), sent, { ...sent, pool });
      expect(first).toEqual({ outcome: answer(1), ran: true, replayed: false });
      expect(second).toEqual({ outcome: answer(1), ran: false, replayed: true });
      expect(await writesOf(sent.ownerId)).toBe(1);
    }
  });

  test("runs itself when the first one fails with an error that is not stored", async () => {
    const sent = request();
    const fail = () => Promise.reject(new ServiceError("unavailable", "try again"));
    const { first, second } = await overlap(fail, sent, { ...sent, pool: otherDb });
    expect(first.outcome.status).toBe("rejected");
    expect(second).toEqual({ outcome: answer(2), ran: true, replayed: false });
  });

  test("is refused after the wait when its content differs", async () => {
    const sent = request();
    const { first, second } = await overlap(insertOne(sent.ownerId, 1), sent, { ...sent, body: "another" });
    expect(first.outcome).toEqual(answer(1));
    expect(second).toMatchObject({ outcome: { reason: { kind: "invalid" } }, ran: false });
  });

  test("is one of twenty that write once", async () => {
    const sent = request();
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, at) => send({ ...sent, pool: at % 2 === 0 ? db : otherDb })),
    );
    expect(all.map(({ outcome }) => outcome)).toEqual(all.map(() => answer(1)));
    expect(all.filter(({ ran }) => ran).length).toBe(1);
    expect(await writesOf(sent.ownerId)).toBe(1);
  });
});

describe("age", () => {
  test("a key is good for 24 hours and then free for any request", async () => {
    const sent = request();
    await send(sent);
    clock.advance(24 * HOUR_MS - 1);
    expect(await send(sent)).toMatchObject({ replayed: true });
    clock.advance(1);
    expect(await send({ ...sent, body: "another" })).toEqual({ outcome: answer(1), ran: true, replayed: false });
    expect(await writesOf(sent.ownerId)).toBe(2);
  });

  test("a key that is used again has only its new outcome", async () => {
    const sent = request();
    const refuse = () => Promise.reject(new ServiceError("conflict", "name is taken"));
    for (const write of [refuse, insertOne(sent.ownerId, 2), refuse]) {
      const first = await send(sent, write);
      expect(first).toMatchObject({ ran: true });
      expect(await send(sent)).toMatchObject({ outcome: { status: first.outcome.status }, replayed: true });
      clock.advance(24 * HOUR_MS);
    }
  });
});
