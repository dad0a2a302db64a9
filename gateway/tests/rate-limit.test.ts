import { afterAll, describe, expect, setDefaultTimeout, setSystemTime, test } from "bun:test";
import fc from "fast-check";
import { Redis } from "ioredis";
import type { Decision, RateLimiter } from "../src/rate-limit/limiter.ts";
import { memoryLimiter } from "../src/rate-limit/memory.ts";
import { redisLimiter } from "../src/rate-limit/redis.ts";
import { exactLog, repeat, START_MS, traffic, WINDOW_MS } from "./rate-limit-traffic.ts";
import { startRedis } from "./redis-server.ts";

/** How much longer than 60 s a request above 1,000 a minute may be remembered (limiter.ts). */
const LATE_MS = 59;

/** Traffic on each side of the exact limit; the heavy side in fewer runs. */
const light = { limitMax: 25, burstMax: 12, numRuns: 60 };
const heavy = { limitMin: 1_001, limitMax: 1_300, burstMax: 400, numRuns: 8 };
const sides = [
  ["up to 1,000", light],
  ["above 1,000", heavy],
] as const;

setDefaultTimeout(120_000);

let nowMs = START_MS;
const clock = () => nowMs;
let keys = 0;
const newKey = () => `key-${++keys}`;

const memory = memoryLimiter({ clock });

const redis = await startRedis();
const shared = await redisLimiter({ url: redis.url, clock, commandTimeoutMs: 10_000 });

afterAll(async () => {
  shared.close();
  await redis.remove();
});

describe.each(["memory", "redis"] as const)("%s limiter", (adapter) => {
  const limiter: RateLimiter = { take: (key, limit) => (adapter === "memory" ? memory : shared).take(key, limit) };
  const takeAt = (key: string, atMs: number, limit: number) => {
    nowMs = atMs;
    return limiter.take(key, limit);
  };
  const takeAll = (key: string, arrivals: number[], limit: number) =>
    Promise.all(arrivals.map((atMs) => takeAt(key, atMs, limit)));

  test("a key is allowed its limit, then refused with the time to retry", async () => {
    const arrivals = [START_MS, START_MS + 20_000, START_MS + 20_500, START_MS + 59_999, START_MS + WINDOW_MS];
    expect(await takeAll(newKey(), arrivals, 3)).toEqual([
      { allowed: true, limit: 3, remaining: 2, resetAtSeconds: 1_800_000_060, retryAfterSeconds: 0 },
      { allowed: true, limit: 3, remaining: 1, resetAtSeconds: 1_800_000_080, retryAfterSeconds: 0 },
      { allowed: true, limit: 3, remaining: 0, resetAtSeconds: 1_800_000_081, retryAfterSeconds: 0 },
      { allowed: false, limit: 3, remaining: 0, resetAtSeconds: 1_800_000_081, retryAfterSeconds: 1 },
      { allowed: true, limit: 3, remaining: 0, resetAtSeconds: 1_800_000_120, retryAfterSeconds: 0 },
    ]);
  });

  test("a burst before the end of a minute leaves nothing for a burst after it", async () => {
    const key = newKey();
    const before = await takeAll(key, repeat(100, START_MS + 59_900), 100);
    const after = await takeAll(key, repeat(100, START_MS + 60_100), 100);
    expect([allowedOf(before), allowedOf(after)]).toEqual([100, 0]);
  });

  test("a refused request does not count", async () => {
    const key = newKey();
    await takeAll(key, repeat(50, START_MS), 2);
    expect(await takeAt(key, START_MS + WINDOW_MS, 2)).toMatchObject({ allowed: true, remaining: 1 });
  });

  test("keys do not share a limit", async () => {
    const [one, other] = [newKey(), newKey()];
    expect(await takeAt(one, START_MS, 1)).toMatchObject({ allowed: true });
    expect(await takeAt(other, START_MS, 1)).toMatchObject({ allowed: true });
  });

  test("a limit of 0 refuses everything", async () => {
    const refused = { allowed: false, limit: 0, remaining: 0, retryAfterSeconds: 60 };
    expect(await takeAt(newKey(), START_MS, 0)).toMatchObject(refused);
  });

  test("a changed limit applies to the requests already counted", async () => {
    const key = newKey();
    await takeAll(key, [START_MS, START_MS + 1_000, START_MS + 2_000, START_MS + 3_000], 4);
    // Two of the four requests must expire before a limit of three admits another.
    expect(await takeAt(key, START_MS + 4_000, 3)).toMatchObject({ remaining: 0, retryAfterSeconds: 57 });
    expect(await takeAt(key, START_MS + 4_000, 6)).toMatchObject({ allowed: true, remaining: 1 });
  });

  test("a client that sends evenly at its limit is never refused", async () => {
    const steady = fc.record({ limit: fc.integer({ min: 1, max: 1_000 }), offsetMs: fc.integer({ min: 0, max: 999 }) });
    await fc.assert(
      fc.asyncProperty(steady, async ({ limit, offsetMs }) => {
        const arrivals = Array.from({ length: 3 * limit }, (_, i) =>
          Math.floor(START_MS + offsetMs + (i * WINDOW_MS) / limit),
        );
        expect(allowedOf(await takeAll(newKey(), arrivals, limit))).toBe(arrivals.length);
      }),
      { numRuns: 15 },
    );
  });

  test("up to 1,000 a minute, every decision is that of an exact log", async () => {
    await fc.assert(
      fc.asyncProperty(traffic(light), async ({ limit, arrivals }) => {
        expect(await takeAll(newKey(), arrivals, limit)).toEqual(exactLog(arrivals, limit));
      }),
    );
  });

  test("above 1,000 a minute no 60 s hold more than the limit, and each request is forgotten after 60.059 s", async () => {
    await fc.assert(
      fc.asyncProperty(traffic(heavy), async ({ limit, arrivals }) => {
        const decisions = await takeAll(newKey(), arrivals, limit);
        const allowed: number[] = [];
        for (const [i, atMs] of arrivals.entries()) {
          if (decisions[i]?.allowed) {
            allowed.push(atMs);
            expect(countSince(allowed, atMs - WINDOW_MS)).toBeLessThanOrEqual(limit);
          } else {
            expect(countSince(allowed, atMs - WINDOW_MS - LATE_MS)).toBeGreaterThanOrEqual(limit);
          }
        }
      }),
      { numRuns: 15 },
    );
  });

  test.each([0, 1, 30, 59])(
    "above 1,000 a minute a request counts for 60 s, wherever in its bucket it arrived (%d ms)",
    async (ms) => {
      const key = newKey();
      await takeAll(key, repeat(1_001, START_MS + ms), 1_001);
      expect(await takeAt(key, START_MS + ms + WINDOW_MS - 1, 1_001)).toMatchObject({ allowed: false });
      expect(await takeAt(key, START_MS + ms + WINDOW_MS + LATE_MS, 1_001)).toMatchObject({ allowed: true });
    },
  );

  test.each(sides)("%s a minute Retry-After is the first whole second that admits a request", async (_, bounds) => {
    await fc.assert(
      fc.asyncProperty(traffic(bounds), async ({ limit, arrivals }) => {
        const key = newKey();
        await takeAll(key, arrivals, limit);
        const lastMs = arrivals.at(-1) ?? START_MS;
        const refused = (await takeAll(key, repeat(limit + 1, lastMs), limit)).at(-1);
        const waitMs = (refused?.retryAfterSeconds ?? 0) * 1000;
        expect(await takeAt(key, lastMs + waitMs - 1000, limit)).toMatchObject({ allowed: false });
        expect(await takeAt(key, lastMs + waitMs, limit)).toMatchObject({ allowed: true });
      }),
      { numRuns: bounds.numRuns },
    );
  });

  test.each(sides)("%s a minute the full limit is back at Reset and not a second before", async (_, bounds) => {
    await fc.assert(
      fc.asyncProperty(traffic(bounds), async ({ limit, arrivals }) => {
        const [key, twin] = [newKey(), newKey()];
        const last = (await takeAll(key, arrivals, limit)).at(-1);
        await takeAll(twin, arrivals, limit);
        const resetMs = (last?.resetAtSeconds ?? 0) * 1000;
        const full = { allowed: true, remaining: limit - 1 };
        expect(await takeAt(key, resetMs, limit)).toMatchObject(full);
        expect(await takeAt(twin, resetMs - 1000, limit)).not.toMatchObject(full);
      }),
      { numRuns: bounds.numRuns },
    );
  });

  test("a clock set back by hours does not lock a client out", async () => {
    const key = newKey();
    await takeAt(key, START_MS + 7_200_000, 1);
    expect(await takeAt(key, START_MS, 1)).toMatchObject({ allowed: true });
  });
});

test("memory and Redis decide alike under changing limits and an unsteady clock", async () => {
  const step = fc.record({
    gapMs: fc.oneof(fc.integer({ min: -50, max: 300 }), fc.integer({ min: -70_000, max: 70_000 })),
    limit: fc.oneof(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 1_001, max: 5_000 })),
    burst: fc.integer({ min: 1, max: 10 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const key = newKey();
      nowMs = START_MS;
      const pairs = steps.flatMap(({ gapMs, limit, burst }) => {
        nowMs += gapMs;
        return repeat(burst, limit).map((each) => Promise.all([memory.take(key, each), shared.take(key, each)]));
      });
      for (const [inMemory, inRedis] of await Promise.all(pairs)) expect(inRedis).toEqual(inMemory);
    }),
  );
});

test("the limit holds across gateways that share a Redis, whatever their clocks say", async () => {
  const options = { url: redis.url, commandTimeoutMs: 10_000 };
  const gateways = [await redisLimiter(options), await redisLimiter(options)];
  const key = newKey();
  const decisions: Decision[] = [];
  for (const gateway of gateways) {
    decisions.push(...(await Promise.all(repeat(30, key).map((each) => gateway.take(each, 50)))));
    setSystemTime(Date.now() + 2 * WINDOW_MS);
  }
  setSystemTime();
  expect(allowedOf(decisions)).toBe(50);
  for (const gateway of gateways) gateway.close();
});

test("an unused key disappears from Redis", async () => {
  const key = newKey();
  await shared.take(key, 5_000);
  const admin = new Redis(redis.url);
  expect(await admin.pttl(`parley:rl:{${key}}`)).toBeGreaterThan(0);
  admin.disconnect();
});

test("memory keeps at most its limit of keys: the least recently used one starts over", async () => {
  nowMs = START_MS;
  const small = memoryLimiter({ keysMax: 2, clock });
  for (const key of ["a", "b", "a", "c"]) await small.take(key, 1);
  expect(await small.take("a", 1)).toMatchObject({ allowed: false });
  expect(await small.take("b", 1)).toMatchObject({ allowed: true });
});

function countSince(timesMs: number[], afterMs: number): number {
  return timesMs.length - (timesMs.findLastIndex((timeMs) => timeMs <= afterMs) + 1);
}

function allowedOf(decisions: Decision[]): number {
  return decisions.filter(({ allowed }) => allowed).length;
}
