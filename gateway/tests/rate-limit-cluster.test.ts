import { afterAll, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { Redis } from "ioredis";
import { redisLimiter } from "../src/rate-limit/redis.ts";
import { startRedis, type TestRedis } from "./redis-server.ts";

const SLOTS = 16_384;
const NODES = 3;
const LIMIT = 5;

/** Three primaries that know each other, a third of the slots each. */
const nodes = await Promise.all(Array.from({ length: NODES }, () => startRedis(() => ["--cluster-enabled", "yes"])));
const clients = nodes.map(({ url }) => new Redis(url));
const port = (node: TestRedis) => Number(new URL(node.url).port);
const first = clients[0] as Redis;
for (const [at, client] of clients.entries()) {
  const [from, until] = [at, at + 1].map((n) => Math.floor((n * SLOTS) / NODES)) as [number, number];
  await client.call("CLUSTER", "ADDSLOTSRANGE", String(from), String(until - 1));
  await client.call("CLUSTER", "SET-CONFIG-EPOCH", String(at + 1));
}
for (const node of nodes.slice(1)) await first.call("CLUSTER", "MEET", "127.0.0.1", String(port(node)));
for (const client of clients)
  await eventually(async () => {
    const info = String(await client.call("CLUSTER", "INFO"));
    expect(info).toContain("cluster_state:ok");
    expect(info).toContain(`cluster_known_nodes:${NODES}`);
  });
// Two gateways: one knows two nodes, the other knows all.
const urls = nodes.map(({ url }) => url);
const limiters = await Promise.all(
  [urls.slice(0, 2), urls].map((some) => redisLimiter({ url: some.join(","), commandTimeoutMs: 10_000 })),
);
afterAll(async () => {
  for (const limiter of limiters) limiter.close();
  for (const client of clients) client.disconnect();
  await Promise.all(nodes.map((node) => node.remove()));
});

test("in a Redis Cluster, every key has one limit across gateways, whichever node it is on", async () => {
  const keys = Array.from({ length: 60 }, (_, n) => `key-${n}`);
  for (const key of keys) {
    const decisions = await Promise.all(Array.from({ length: LIMIT + 2 }, (_, n) => limiters[n % 2]?.take(key, LIMIT)));
    expect(decisions.filter((decision) => decision?.allowed)).toHaveLength(LIMIT);
  }
  const held = await Promise.all(clients.map((client) => client.dbsize()));
  expect(held.reduce((sum, size) => sum + size, 0)).toBe(keys.length);
  for (const size of held) expect(size).toBeGreaterThan(0);
});

test("takes in one tick for keys on different nodes are all decided", async () => {
  const takes = Array.from({ length: 90 }, (_, n) => limiters[0]?.take(`tick-${n}`, LIMIT));
  for (const decision of await Promise.all(takes))
    expect(decision).toMatchObject({ allowed: true, remaining: LIMIT - 1 });
});

test("a lost node affects only its own keys' decisions", async () => {
  await nodes[2]?.kill();
  const outcomes = await Promise.all(
    Array.from({ length: 30 }, async (_, n) => (await limiters[1]?.take(`gone-${n}`, LIMIT).catch(() => null)) ?? null),
  );
  expect(outcomes).toContain(null);
  expect(outcomes.filter((decision) => decision?.allowed).length).toBeGreaterThan(0);
});
