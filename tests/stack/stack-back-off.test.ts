import { expect, test } from "bun:test";
import { nextPause, RESTART } from "@parley/dev/processes/back-off.ts";

test("restarts back off from 100 ms, doubling each time, up to 5 s", () => {
  const pauses: number[] = [];
  for (let pause: number | null = null; pauses.length < 8; pauses.push(pause)) pause = nextPause(RESTART, pause, 0);
  expect(pauses).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
});

test("a process that ran for 30 s starts again as quickly as the first time", () => {
  expect(nextPause(RESTART, 5000, 29_999)).toBe(5000);
  expect(nextPause(RESTART, 5000, 30_000)).toBe(100);
});
