import { expect, test } from "bun:test";
import { slidingWindows } from "./windows.ts";

test("a key that used up its window waits until its first request is a window old, and others do not", () => {
  let now = 0;
  const take = slidingWindows({ keysMax: 10, windowMs: 1_000, clock: () => now });
  const waits = (key: string) => take(key, 2).waitMs;
  expect([waits("a"), waits("a"), waits("a"), waits("b")]).toEqual([0, 0, 1_000, 0]);
  now = 999;
  expect(waits("a")).toBe(1);
  now = 1_000;
  expect([waits("a"), waits("a"), waits("a")]).toEqual([0, 0, 1_000]);
});

test("above the maximum number of keys, the least recently used one starts over", () => {
  const take = slidingWindows({ keysMax: 2, windowMs: 1_000, clock: () => 0 });
  const waits = (key: string) => take(key, 1).waitMs;
  expect([waits("a"), waits("b"), waits("b"), waits("c")]).toEqual([0, 0, 1_000, 0]);
  expect([waits("b"), waits("a")]).toEqual([1_000, 0]);
});
