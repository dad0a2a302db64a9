import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { createLogger, silentLogger } from "@parley/shared/log";
import { createTestDatabase } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { failureOf } from "@parley/testkit/failures";
import { startTcpProxy, type TcpProxy } from "@parley/testkit/network/tcp-proxy";
import { followKeyChanges, type KeyChanges } from "../src/keys/key-changes.ts";
import { notifyKeyChanges } from "../src/store/key-changes.ts";

let proxy: TcpProxy;
let changes: KeyChanges;

const database = await createTestDatabase();
const db = openDatabase({ url: database.urls.account, max: 2, name: "test" });
afterAll(async () => {
  await db.end();
  await database.drop();
});
beforeEach(async () => {
  proxy = await startTcpProxy();
  proxy.to(new URL(database.urls.account).host);
  const url = Object.assign(new URL(database.urls.account), { host: proxy.address }).toString();
  changes = followKeyChanges({ db, url, log: silentLogger, beatMs: 50 });
});
afterEach(async () => {
  await changes.stop();
  await proxy.close();
});

function watch(from: KeyChanges) {
  const leaving = new AbortController();
  const messages = from.watch(leaving.signal)[Symbol.asyncIterator]();
  const any = async () => (await messages.next()).value;
  const next = async () => {
    for (;;) {
      const told = await any();
      if (!told?.heartbeat) return told?.keyId;
    }
  };
  return { any, next, leave: () => leaving.abort() };
}

test("a watcher keeps receiving heartbeats while nothing was missed", async () => {
  const { any, next } = watch(changes);
  expect(await next()).toBe("");
  expect(await any()).toEqual({ keyId: "", heartbeat: true });
  expect(await any()).toEqual({ keyId: "", heartbeat: true });
});

test("a watcher that arrived while Postgres was down is live once it is back", async () => {
  const before = watch(changes);
  expect(await before.next()).toBe("");
  await proxy.close();
  expect(await failureOf(before.next())).toMatchObject({ kind: "unavailable" });

  const during = watch(changes);
  const first = during.next();
  await proxy.open();
  expect(await first).toBe("");
  await notifyKeyChanges(db, ["key_1"]);
  expect(await during.next()).toBe("key_1");
});

test("a connection that falls silent counts as lost", async () => {
  const { next } = watch(changes);
  expect(await next()).toBe("");
  proxy.silence();
  expect(await failureOf(next())).toMatchObject({ kind: "unavailable" });
});

test("a change that is rolled back is not reported", async () => {
  const { next } = watch(changes);
  expect(await next()).toBe("");
  await failureOf(
    db.begin(async (tx) => {
      await notifyKeyChanges(tx, ["key_undone"]);
      throw new Error("changed my mind");
    }),
  );
  await notifyKeyChanges(db, ["key_done"]);
  expect(await next()).toBe("key_done");
});

test("a watcher that leaves sees its stream end, and one that has left already gets nothing", async () => {
  const { next, leave } = watch(changes);
  expect(await next()).toBe("");
  const last = next();
  leave();
  expect(await last).toBeUndefined();
  const gone = changes.watch(AbortSignal.abort())[Symbol.asyncIterator]();
  expect(await gone.next()).toEqual({ done: true, value: undefined });
});

test("a connection without notifications never counts as live, and the log says why", async () => {
  // Another database acts as a pooler: both accept LISTEN and deliver nothing.
  const elsewhere = await createTestDatabase();
  const log = createLogger("test", "silent");
  const reasons: string[] = [];
  log.warn = ({ err }: { err?: Error }) => reasons.push(String(err?.message));
  const deaf = followKeyChanges({ db, url: elsewhere.urls.account, log });
  const { next, leave } = watch(deaf);
  const first = next();
  await notifyKeyChanges(db, ["key_1"]);
  await eventually(() =>
    expect(reasons).toEqual([
      "notifications do not arrive: behind a pooler, PARLEY_DATABASE_DIRECT_URL must point to Postgres itself",
    ]),
  );
  leave();
  expect(await first).toBeUndefined();
  await deaf.stop();
  await elsewhere.drop();
});
