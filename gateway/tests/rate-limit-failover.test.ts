import { afterAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { type AddressInfo, connect, createServer } from "node:net";
import { eventually } from "@parley/testkit/eventually";
import { Redis } from "ioredis";
import { failoverLimiter } from "../src/rate-limit/failover.ts";
import type { RateLimiter } from "../src/rate-limit/limiter.ts";
import { memoryLimiter } from "../src/rate-limit/memory.ts";
import { redisLimiter } from "../src/rate-limit/redis.ts";
import { startRedis } from "./redis-server.ts";

setDefaultTimeout(120_000);

const redis = await startRedis();
afterAll(() => redis.remove());

beforeEach(async () => {
  const admin = new Redis(redis.url);
  await admin.flushall();
  admin.disconnect();
});

test("a killed Redis costs no decision, is logged once, and is used again when it is back", async () => {
  const { limiter, log, degraded, close } = await gateway();
  expect(await takeMany(limiter, "k", 4, 3)).toEqual([true, true, true, false]);

  await redis.kill();
  expect(await takeMany(limiter, "k", 4, 3)).toEqual([true, true, true, false]);
  expect(log.warn).toHaveLength(1);
  expect(degraded()).toBe(4);

  await redis.restart();
  await untilBack(limiter, log);
  const degradedBefore = degraded();
  expect(await takeMany(limiter, "k", 4, 3)).toEqual([true, true, true, false]);
  expect(await redisKeys()).toContain("parley:rl:{k}");
  expect(degraded()).toBe(degradedBefore);
  expect([log.warn.length, log.info.length]).toEqual([1, 1]);
  close();
});

test("requests in flight when Redis is killed are all decided", async () => {
  const { limiter, log, close } = await gateway();
  const inFlight = takeMany(limiter, "k", 100, 1_000);
  await redis.kill();
  expect(await inFlight).not.toContain(false);
  expect(await takeMany(limiter, "k", 10, 1_000)).not.toContain(false);
  expect(log.warn).toHaveLength(1);
  close();
  await redis.restart();
});

test("a take is sent while another one waits for its reply", async () => {
  const { sockets, port, close: closeProxy } = await holdingProxy(redis.url);
  const limiter = await redisLimiter({ url: `redis://127.0.0.1:${port}`, commandTimeoutMs: 30_000 });
  // The first one also makes the script known.
  await limiter.take("first", 1);
  const replies = sockets.hold();
  const early = limiter.take("early", 1);
  await eventually(() => expect(sockets.sent()).toContain("{early}"));
  const late = limiter.take("late", 1);
  await eventually(() => expect(sockets.sent()).toContain("{late}"));
  replies.release();
  expect([await early, await late]).toMatchObject([{ allowed: true }, { allowed: true }]);
  limiter.close();
  closeProxy();
});

test("a Redis that hangs is replaced by memory, and used again when it answers", async () => {
  const { limiter, log, close } = await gateway(1_000);
  expect(await takeMany(limiter, "k", 2, 2)).toEqual([true, true]);

  redis.freeze();
  expect(await takeMany(limiter, "k", 3, 2)).toEqual([true, true, false]);
  expect(log.warn).toEqual([{ reason: "Command timed out" }]);

  redis.thaw();
  await untilBack(limiter, log);
  expect(await takeMany(limiter, "k", 1, 2)).toEqual([false]);
  close();
});

test("a Redis that is missing at the start is no obstacle, and is used once it appears", async () => {
  await redis.kill();
  const { limiter, log, close } = await gateway();
  expect(await takeMany(limiter, "k", 2, 1)).toEqual([true, false]);
  expect(log.warn).toHaveLength(1);

  await redis.restart();
  await untilBack(limiter, log);
  expect(await redisKeys()).toContain("parley:rl:{probe}");
  close();
});

test("a demoted Redis that refuses writes is replaced by memory until it accepts them", async () => {
  const { limiter, log, close } = await gateway();
  const admin = new Redis(redis.url);
  await admin.replicaof("127.0.0.1", 1);
  expect(await takeMany(limiter, "k", 2, 1)).toEqual([true, false]);
  expect(log.warn).toHaveLength(1);

  await admin.replicaof("NO", "ONE");
  await untilBack(limiter, log);
  admin.disconnect();
  close();
});

test("a lost primary is retried by one request per delay, and no request waits for it", async () => {
  let nowMs = 0;
  const answers = [Promise.reject(new Error("gone")), new Promise<never>(() => {})];
  const primary: RateLimiter = { take: () => answers.shift() ?? Promise.reject(new Error("tried again too soon")) };
  const logger = { warn() {}, info() {} };
  const onDegraded = () => {};
  const clock = () => nowMs;
  const limiter = failoverLimiter({
    primary,
    fallback: memoryLimiter(),
    logger,
    onDegraded,
    retryDelayMs: 1_000,
    clock,
  });
  await takeMany(limiter, "k", 1, 100);
  nowMs = 999;
  await takeMany(limiter, "k", 5, 100);
  expect(answers).toHaveLength(1);
  nowMs = 1_000;
  expect(await takeMany(limiter, "k", 5, 100)).not.toContain(false);
  expect(answers).toHaveLength(0);
});

/** @param commandTimeoutMs by default longer than a busy test machine may take: that must not count as a lost Redis */
async function gateway(commandTimeoutMs = 30_000) {
  const log = { warn: [] as object[], info: [] as object[] };
  let degraded = 0;
  const primary = await redisLimiter({ url: redis.url, commandTimeoutMs });
  const limiter = failoverLimiter({
    primary,
    fallback: memoryLimiter(),
    logger: { warn: (fields) => log.warn.push(fields), info: (fields) => log.info.push(fields) },
    onDegraded: () => {
      degraded += 1;
    },
  });
  return { limiter, log, degraded: () => degraded, close: primary.close };
}

function takeMany(limiter: RateLimiter, key: string, times: number, limit: number): Promise<boolean[]> {
  return Promise.all(Array.from({ length: times }, async () => (await limiter.take(key, limit)).allowed));
}

async function redisKeys(): Promise<string[]> {
  const admin = new Redis(redis.url);
  const keys = await admin.keys("parley:rl:*");
  admin.disconnect();
  return keys;
}

/** Sends requests until the return to Redis is logged. */
async function untilBack(limiter: RateLimiter, log: { info: object[] }): Promise<void> {
  await eventually(async () => {
    await limiter.take("probe", 1_000_000);
    expect(log.info).not.toBeEmpty();
  });
}

/** Shows what is sent to Redis, and can hold its replies back. */
async function holdingProxy(url: string) {
  let sent = "";
  let held: (() => void)[] | null = null;
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(url).port), "127.0.0.1");
    client.on("data", (bytes) => {
      sent += bytes.toString("latin1");
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      if (held) held.push(() => client.write(bytes));
      else client.write(bytes);
    });
    client.on("close", () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const hold = () => {
    const replies: (() => void)[] = [];
    held = replies;
    return {
      release: () => {
        held = null;
        for (const reply of replies) reply();
      },
    };
  };
  const { port } = server.address() as AddressInfo;
  return { port, sockets: { sent: () => sent, hold }, close: () => server.close() };
}
