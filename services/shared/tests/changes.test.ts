import { afterAll, afterEach, expect, test } from "bun:test";
import { createTestDatabase, EMPTY_TEMPLATE } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { startTcpProxy, type TcpProxy } from "@parley/testkit/network/tcp-proxy";
import { type ChangeFollower, followChanges, LEASE_MS, willSettle } from "../src/changes/follow.ts";
import { type Subscription, subscribe, type Watch } from "../src/changes/subscribe.ts";
import table from "../src/changes/table.sql" with { type: "text" };
import { openDatabase, type Sql } from "../src/db/database.ts";
import { silentLogger } from "../src/log.ts";
import { createClient } from "../src/rpc/client.ts";
import { serve } from "../src/rpc/server.ts";
import { TestService } from "./fixtures/test-service.ts";

const OWNER = "own_1";

let open: { close(): unknown }[] = [];

const database = await createTestDatabase(EMPTY_TEMPLATE);
const url = database.urls.agent;
const db = openDatabase({ url, max: 10, name: "test" });
await db.unsafe(table);
await db`create table things (owner_id text, name text, value integer, primary key (owner_id, name))`;
await db`create trigger tell after insert or update or delete on things for each row execute function tell_change('name')`;
const replicas = [await startReplica(url), await startReplica(url)];
afterEach(async () => {
  for (const each of open) await each.close();
  open = [];
});
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()));
  await db.end();
  await database.drop();
});

interface Replica {
  address: string;
  changes: ChangeFollower;
  stop(): Promise<void>;
}

/** A process of a service that reports changes. */
async function startReplica(listenUrl: string): Promise<Replica> {
  const changes = followChanges({ db, url: listenUrl, log: silentLogger, name: "test-changes" });
  const handlers = { both: (requests: AsyncIterable<object>) => changes.watch(requests as never) } as never;
  const server = await serve(TestService, handlers, { address: "127.0.0.1:0", log: silentLogger, drainMs: 0 });
  return {
    address: server.address,
    changes,
    stop: async () => {
      await changes.stop();
      await server.stop();
    },
  };
}

interface Reader extends Subscription {
  /** The value of a thing, remembered or read. */
  read(name: string): Promise<number | undefined>;
  /** How often it was read. */
  reads: number;
  remembered: Map<string, number | undefined>;
}

/** A process that remembers things. */
function startReader(address: string): Reader {
  const client = createClient(TestService, { peer: "test", address });
  const remembered = new Map<string, number | undefined>();
  const subscription = subscribe({
    what: "things",
    watch: client.both as unknown as Watch,
    onChange: ({ name }) => remembered.delete(name),
    onEverything: () => remembered.clear(),
    log: silentLogger,
  });
  const reader: Reader = {
    ...subscription,
    reads: 0,
    remembered,
    read: async (name) => {
      if (subscription.isCurrent() && remembered.has(name)) return remembered.get(name);
      reader.reads++;
      const [row] = await db<{ value: number }[]>`
        select value from things where owner_id = ${OWNER} and name = ${name}`;
      remembered.set(name, row?.value);
      return row?.value;
    },
    close: () => {
      subscription.close();
      client.close();
    },
  };
  open.push(reader);
  return reader;
}

async function startProxy(to: string): Promise<TcpProxy> {
  const proxy = await startTcpProxy();
  proxy.to(to);
  open.push(proxy);
  return proxy;
}

const current = (...readers: Reader[]) =>
  eventually(() => {
    for (const reader of readers) expect(reader.isCurrent()).toBe(true);
  });

/** Writes as a service does. */
async function write(replica: Replica, name: string, value: number): Promise<void> {
  await db.begin(async (tx) => {
    await willSettle(tx);
    await put(tx, name, value);
  });
  await replica.changes.settled();
}

async function put(sql: Sql, name: string, value: number): Promise<void> {
  await sql`
    insert into things values (${OWNER}, ${name}, ${value})
    on conflict (owner_id, name) do update set value = excluded.value`;
}

const [one, two] = [0, 1].map((at) => () => replicas[at] as Replica) as [() => Replica, () => Replica];

test("every reader of every replica sees a write once it is answered, a thousand times", async () => {
  const readers = [startReader(one().address), startReader(two().address)];
  await current(...readers);
  const stale: string[] = [];
  for (let value = 1; value <= 1_000; value++) {
    await write(replicas[value % 2] as Replica, "counter", value);
    for (const reader of readers) {
      const seen = await reader.read("counter");
      if (seen !== value) stale.push(`${value}: ${seen}`);
    }
  }
  expect(stale).toEqual([]);
});

test("what does not change is read once, whatever else changes", async () => {
  const reader = startReader(one().address);
  await write(one(), "still", 7);
  await current(reader);
  await reader.read("still");
  const before = reader.reads;
  for (let value = 0; value < 20; value++) {
    await write(two(), "other", value);
    expect(reader.remembered.has("still")).toBe(true);
  }
  await current(reader);
  expect(await reader.read("still")).toBe(7);
  expect(reader.reads).toBe(before);
});

test.each(["silent", "slow", "cut"] as const)(
  "no write is answered while a reader whose stream is %s still uses the old value",
  async (fault) => {
    const proxy = await startProxy(one().address);
    const reader = startReader(proxy.address);
    await write(two(), "fault", 1);
    await current(reader);
    expect(await reader.read("fault")).toBe(1);
    if (fault === "silent") proxy.silence();
    else if (fault === "slow") proxy.delay(2 * LEASE_MS);
    else await proxy.close();
    for (let value = 2; value <= 10; value++) {
      await write(replicas[value % 2] as Replica, "fault", value);
      expect(await reader.read("fault")).toBe(value);
    }
  },
);

test("a reader that was cut off remembers again once it has a stream", async () => {
  const proxy = await startProxy(one().address);
  const reader = startReader(proxy.address);
  await current(reader);
  await proxy.close();
  await eventually(() => expect(reader.isCurrent()).toBe(false));
  await proxy.open();
  await current(reader);
  await write(two(), "again", 1);
  expect(await reader.read("again")).toBe(1);
  const before = reader.reads;
  await eventually(async () => {
    await reader.read("again");
    expect(reader.reads).toBe(before);
  });
});

test("readers whose replica falls silent switch to another one", async () => {
  const proxy = await startProxy(one().address);
  const address = `ipv4:${proxy.address},${two().address}`;
  const readers = Array.from({ length: 4 }, () => startReader(address));
  await current(...readers);
  proxy.silence();
  await write(two(), "moved", 1);
  for (const reader of readers) expect(await reader.read("moved")).toBe(1);
  await current(...readers);
});

test("no write is answered while readers of a replica that lost its notifications still use the old value", async () => {
  const proxy = await startProxy(new URL(url).host);
  const deaf = await startReplica(Object.assign(new URL(url), { host: proxy.address }).toString());
  open.push({ close: deaf.stop });
  const reader = startReader(deaf.address);
  await write(one(), "deaf", 1);
  await current(reader);
  expect(await reader.read("deaf")).toBe(1);
  proxy.silence();
  for (let value = 2; value <= 5; value++) {
    await write(one(), "deaf", value);
    expect(await reader.read("deaf")).toBe(value);
  }
});

test("a write that does not wait for readers commits only once none of them uses the old value", async () => {
  const readers = [startReader(one().address), startReader(two().address)];
  await put(db, "blind", 0);
  await current(...readers);
  for (let value = 1; value <= 5; value++) {
    await current(...readers);
    await Promise.all(readers.map((reader) => reader.read("blind")));
    await put(db, "blind", value);
    for (const reader of readers) expect(await reader.read("blind")).toBe(value);
  }
});

test("an idle reader asks for no lease, still receives changes, and remembers again once it is used", async () => {
  const reader = startReader(one().address);
  await write(one(), "idle", 1);
  await write(one(), "busy", 1);
  await current(reader);
  await reader.read("idle");
  await reader.read("busy");
  await eventually(async () => {
    const rows = await db`select 1 from change_followers where held_until > clock_timestamp()`;
    expect(rows).toHaveLength(0);
  });
  await write(two(), "busy", 2);
  const before = reader.reads;
  expect(await reader.read("busy")).toBe(2);
  await current(reader);
  expect(reader.remembered.has("idle")).toBe(true);
  expect(await reader.read("idle")).toBe(1);
  expect(reader.reads).toBeLessThanOrEqual(before + 2);
});

test("a change that is rolled back is reported to nobody", async () => {
  const reader = startReader(one().address);
  await write(one(), "undone", 1);
  await current(reader);
  await reader.read("undone");
  const undone = db.begin(async (tx) => {
    await willSettle(tx);
    await put(tx, "undone", 2);
    throw new Error("changed my mind");
  });
  expect(await undone.catch((error) => error.message)).toBe("changed my mind");
  await write(two(), "done", 1);
  expect(reader.remembered.has("undone")).toBe(true);
});

test("a stopped replica delays no write", async () => {
  const leaving = await startReplica(url);
  const reader = startReader(leaving.address);
  await current(reader);
  await leaving.stop();
  const rows = await db`select 1 from change_followers where held_until > clock_timestamp()`;
  expect(rows.length).toBeLessThanOrEqual(2);
  expect(reader.isCurrent()).toBe(false);
  await write(one(), "left", 1);
  expect(await reader.read("left")).toBe(1);
});
