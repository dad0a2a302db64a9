import { expect, test } from "bun:test";
import { watchIdleTime } from "../running/idle-time.ts";

test("the idle share is that of all cores since the last call", () => {
  const core = (user: number, idle: number) => ({ times: { user, nice: 0, sys: 0, idle, irq: 0 } });
  const readings = [
    [core(100, 100), core(100, 300)],
    [core(200, 100), core(120, 380)],
    [core(200, 200), core(120, 480)],
  ];
  const idleShare = watchIdleTime(() => readings.shift() ?? []);
  expect(idleShare()).toBe(0.4);
  expect(idleShare()).toBe(1);
});

test("no time since the last call is no idle time", () => {
  const idleShare = watchIdleTime(() => []);
  expect(idleShare()).toBe(0);
});
