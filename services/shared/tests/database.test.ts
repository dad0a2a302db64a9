import { afterAll, expect, test } from "bun:test";
import { createTestDatabase, EMPTY_TEMPLATE } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { failureOf } from "@parley/testkit/failures";
import { startTcpProxy } from "@parley/testkit/network/tcp-proxy";
import { openDatabase, type Sql } from "../src/db/database.ts";
import { isUnreachableDatabase } from "../src/db/unreachable.ts";

const database = await createTestDatabase(EMPTY_TEMPLATE);
const admin = openDatabase({ url: database.adminUrl, max: 1, name: "admin" });
const db = openDatabase({ url: database.urls.account, max: 2, name: "service" });
await db`create table notes (text text)`;
afterAll(async () => {
  await Promise.all([db.end(), admin.end()]);
  await database.drop();
});

/** Ends a transaction's connection like a crash of Postgres, and waits until the client has seen it. */
async function cut(tx: Sql): Promise<void> {
  const [row] = await tx`select pg_backend_pid() as pid`;
  await admin`select pg_terminate_backend(${row?.pid})`;
  await eventually(async () => {
    const [left] = await admin`select count(*) as count from pg_stat_activity where pid = ${row?.pid}`;
    expect(left?.count).toBe(0);
  });
}

test("a transaction whose connection is lost fails as unreachable, and the next ones work", async () => {
  for (let round = 0; round < 10; round++) {
    const lost = db.begin(async (tx) => {
      await cut(tx);
      await tx`select 1`;
    });
    const error = await lost.catch((error: unknown) => error);
    expect(isUnreachableDatabase(error)).toBe(true);
  }
  await Promise.all(Array.from({ length: 4 }, () => db.begin((tx) => tx`select 1`)));
});

test("a transaction whose connection is lost writes nothing more, even after its connection serves another", async () => {
  const resumed = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<unknown>();
  const lost = db.begin(async (tx) => {
    await cut(tx);
    await resumed.promise;
    await tx`insert into notes values ('late')`.then(ended.resolve, ended.resolve);
  });
  await expect(lost).rejects.toThrow();
  await Promise.all(Array.from({ length: 8 }, () => db`select 1`));
  resumed.resolve();
  expect(isUnreachableDatabase(await ended.promise)).toBe(true);
  expect(await db`select text from notes`).toBeEmpty();
});

test("of a transaction whose connection is lost, the statements that wait for others fail too", async () => {
  const failures = Promise.withResolvers<unknown[]>();
  const lost = db.begin(async (tx) => {
    const [row] = await tx`select pg_backend_pid() as pid`;
    const statements = Array.from({ length: 3 }, () => failureOf(tx`select pg_sleep(60)`));
    await admin`select pg_terminate_backend(${row?.pid})`;
    failures.resolve(await Promise.all(statements));
  });
  await expect(lost).rejects.toThrow();
  expect((await failures.promise).map(isUnreachableDatabase)).toEqual([true, true, true]);
});

test("no query waits behind one that is blocked while its pool has other connections", async () => {
  const held = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const holding = admin.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(1)`;
    held.resolve();
    await release.promise;
  });
  await held.promise;
  const events: string[] = [];
  const blocked = db`select pg_advisory_lock(1), pg_advisory_unlock(1)`.then(() => events.push("blocked"));
  // More queries than the pool has connections, some of them transactions.
  await Promise.all(Array.from({ length: 20 }, (_, at) => (at % 5 ? db`select 1` : db.begin((tx) => tx`select 1`))));
  events.push("others");
  release.resolve();
  await Promise.all([blocked, holding]);
  expect(events).toEqual(["others", "blocked"]);
});

test("connections to a Postgres that vanished silently are dropped and replaced", async () => {
  const proxy = await startTcpProxy();
  proxy.to(new URL(database.urls.account).host);
  const url = Object.assign(new URL(database.urls.account), { host: proxy.address }).toString();
  const own = openDatabase({ url, max: 3, name: "vanished", answerWithinMs: 1_000 });
  const backends = async () => {
    const rows = await Promise.all(
      Array.from({ length: 3 }, () => own`select pg_backend_pid() as pid, pg_sleep(0.01)`),
    );
    return new Set(rows.map(([row]) => row?.pid as number));
  };
  const before = await eventually(async () => {
    const pids = await backends();
    expect(pids.size).toBe(3);
    return pids;
  });
  proxy.replace();
  const failures = await Promise.all(Array.from({ length: 3 }, () => failureOf(own`select 1`)));
  expect(failures.map(isUnreachableDatabase)).toEqual([true, true, true]);
  expect((await eventually(backends)).isDisjointFrom(before)).toBeTrue();
  await own.end({ timeout: 1 });
  await proxy.close();
});

test("an idle connection is kept, however long it is silent", async () => {
  const own = openDatabase({ url: database.urls.account, max: 1, name: "silent", answerWithinMs: 200 });
  const pid = async () => (await own`select pg_backend_pid() as pid`)[0]?.pid as number;
  await eventually(async () => {
    const before = await pid();
    await admin`select pg_sleep(0.4)`;
    expect(await pid()).toBe(before);
  });
  await own.end({ timeout: 1 });
});

test("a pool whose connections are cut repeatedly under load recovers, and no query gets another's answer", async () => {
  let asked = 0;
  let answered = 0;
  let stopped = false;
  const work = async () => {
    while (!stopped) {
      const number = ++asked;
      try {
        await db.begin(async (tx) => {
          expect(await tx`select ${number}::int as a`).toEqual([{ a: number }] as never);
          expect(await tx`select ${number}::int as b, text from notes`).toBeEmpty();
        });
        expect(await db`select ${number}::int as c`).toEqual([{ c: number }] as never);
        answered++;
      } catch (error) {
        if (!isUnreachableDatabase(error)) throw error;
      }
    }
  };
  const workers = Promise.all(Array.from({ length: 8 }, work));
  const cutAll = async () => {
    for (let round = 0; round < 20; round++) {
      const before = answered;
      await eventually(() => expect(answered).toBeGreaterThan(before + 10));
      await admin`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'service'`;
    }
  };
  await Promise.race([workers, cutAll()]).finally(() => {
    stopped = true;
  });
  await workers;
});
