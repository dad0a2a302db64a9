import { afterEach, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { isSure } from "../src/clock.ts";
import { type DatabaseClock, followDatabaseClock } from "../src/db/clock.ts";
import type { Database } from "../src/db/database.ts";
import { silentLogger } from "../src/log.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const followed: DatabaseClock[] = [];
afterEach(async () => {
  for (const clock of followed.splice(0)) await clock.stop();
});

/** A database and a host whose clocks the test sets; at the beginning, all show the same time. */
function fakeClocks() {
  const now = { database: Date.parse("2026-01-01T00:00:00Z"), wall: Date.parse("2026-01-01T00:00:00Z"), steady: 5_000 };
  const pass = (ms: number) => {
    now.database += ms;
    now.wall += ms;
    now.steady += ms;
  };
  /** How long a query and its answer take. */
  const way = { thereMs: 0, backMs: 0 };
  const ask = async () => {
    pass(way.thereMs);
    const ms = now.database;
    pass(way.backMs);
    return [{ ms }];
  };
  const host = { wall: () => now.wall, steady: () => now.steady };
  const follow = async () => {
    const clock = await followDatabaseClock(ask as unknown as Database, silentLogger, { host, everyMs: 1 });
    followed.push(clock);
    return clock;
  };
  const shown = (clock: DatabaseClock) => clock.now().getTime();
  return { now, way, pass, follow, shown };
}

for (const wrongBy of [-HOUR, HOUR]) {
  test(`a process whose host's clock is wrong by ${wrongBy / HOUR} h has the database's time`, async () => {
    const { now, pass, follow, shown } = fakeClocks();
    now.wall += wrongBy;
    const clock = await follow();
    expect(shown(clock)).toBe(now.database);
    pass(MINUTE);
    expect(shown(clock)).toBe(now.database);
  });
}

test("the host's clock may be set while a process runs: the process continues with the database's time", async () => {
  const { now, follow, shown } = fakeClocks();
  const clock = await follow();
  now.wall += HOUR;
  expect(shown(clock)).toBe(now.database);
  now.wall -= 2 * HOUR;
  expect(shown(clock)).toBe(now.database);
});

test("a process that was suspended with its host has the database's time soon after", async () => {
  const { now, follow, shown } = fakeClocks();
  const clock = await follow();
  now.database += HOUR;
  now.wall += HOUR;
  await eventually(() => expect(shown(clock)).toBe(now.database));
});

test("a process follows a database whose clock is set, or that is replaced by one with another clock", async () => {
  const { now, follow, shown } = fakeClocks();
  const clock = await follow();
  for (const movedBy of [3_000, -10 * MINUTE]) {
    now.database += movedBy;
    await eventually(() => expect(shown(clock)).toBe(now.database));
  }
});

test("a slow answer does not change a time that it does not contradict", async () => {
  const { now, way, follow, shown } = fakeClocks();
  const clock = await follow();
  way.backMs = MINUTE;
  const before = now.database;
  await eventually(() => expect(now.database).toBeGreaterThan(before + 3 * MINUTE));
  expect(shown(clock)).toBe(now.database);
});

test("the time is reliable while the clocks of host and database are within a day, however long no process ran", async () => {
  const { now, pass, follow } = fakeClocks();
  pass(7 * DAY);
  now.wall += 20 * HOUR;
  const clock = await follow();
  expect(isSure(clock)).toBe(true);
});

test("the time is unreliable while the clocks of host and database are over a day apart, and reliable again afterwards", async () => {
  const { now, follow } = fakeClocks();
  now.database += 1.5 * DAY;
  const clock = await follow();
  expect(isSure(clock)).toBe(false);
  now.wall += 1.5 * DAY;
  expect(isSure(clock)).toBe(true);
});

test("the time is unreliable after a joint jump of host and database, until it is undone", async () => {
  const { now, follow } = fakeClocks();
  const clock = await follow();
  const jump = async (ms: number) => {
    now.database += ms;
    now.wall += ms;
    await eventually(() => expect(clock.now().getTime()).toBe(now.database));
  };
  await jump(1.5 * DAY);
  expect(isSure(clock)).toBe(false);
  await jump(-1.5 * DAY);
  expect(isSure(clock)).toBe(true);
});

test("a jump that is not undone within a day makes the new time reliable", async () => {
  const { now, pass, follow } = fakeClocks();
  const clock = await follow();
  now.database += 30 * DAY;
  now.wall += 30 * DAY;
  await eventually(() => expect(clock.now().getTime()).toBe(now.database));
  pass(DAY - MINUTE);
  expect(isSure(clock)).toBe(false);
  pass(MINUTE);
  expect(isSure(clock)).toBe(true);
});
