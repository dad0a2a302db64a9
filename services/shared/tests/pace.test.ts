import { expect, test } from "bun:test";
import { createPace } from "../src/shares/pace.ts";

const STAYS = new AbortController().signal;

/** A pace of 10 per second, 20 at once, whose time the test tells. */
function manual() {
  let nowMs = 0;
  const timers = new Set<{ atMs: number; then: () => void }>();
  const pace = createPace(
    { perSecond: 10, atOnce: 20, waitMaxMs: 3_000, refusal: "Too much" },
    {
      now: () => nowMs,
      after: (ms, then) => {
        const timer = { atMs: nowMs + ms, then };
        timers.add(timer);
        return () => timers.delete(timer);
      },
    },
  );
  const ended: string[] = [];
  return {
    take: (name: string, amount: number, ownerId = "own_1", gone = STAYS) => {
      const wait = pace.take(ownerId, amount, gone);
      void wait?.then(() => ended.push(name));
      return wait !== null;
    },
    pass: async (ms: number) => {
      nowMs += ms;
      for (const timer of timers) if (timer.atMs <= nowMs) timer.then();
      await Promise.resolve();
      return ended.splice(0);
    },
    timers: () => timers.size,
  };
}

test("an owner waits for what it used before, for as long as its pace says and in order", async () => {
  const { take, pass } = manual();
  expect([take("a", 20), take("b", 10), take("c", 10), take("d", 1)]).toEqual([false, false, true, true]);
  expect(await pass(999)).toEqual([]);
  expect(await pass(1)).toEqual(["c"]);
  expect(await pass(1_000)).toEqual(["d"]);
  expect(take("e", 1)).toBe(true);
  expect(await pass(100)).toEqual(["e"]);
});

test("an owner that waits delays no other", () => {
  const { take } = manual();
  take("a", 30);
  expect(take("b", 1)).toBe(true);
  expect(take("c", 20, "own_2")).toBe(false);
});

test("an owner that used nothing for long may use no more at once than any other", async () => {
  const { take, pass } = manual();
  take("a", 20);
  await pass(1_000_000);
  expect([take("b", 21), take("c", 1)]).toEqual([false, true]);
});

test("whoever leaves waits no longer", async () => {
  const { take, pass, timers } = manual();
  const gone = new AbortController();
  take("a", 30);
  take("b", 100, "own_1", gone.signal);
  expect(timers()).toBe(1);
  gone.abort();
  expect(await pass(0)).toEqual(["b"]);
  expect(timers()).toBe(0);
  expect(take("c", 100, "own_1", gone.signal)).toBe(false);
});

test("an owner that would wait too long is refused, told when to come back, and nothing is counted", async () => {
  const { take, pass } = manual();
  take("a", 60);
  const refused = { kind: "rate_limited", detail: "Too much" };
  for (let n = 0; n < 2; n++) {
    expect(() => take("b", 1_000)).toThrow(expect.objectContaining({ ...refused, retryAfterMs: 4_000 }));
  }
  await pass(1_000);
  expect(take("c", 1)).toBe(true);
});
