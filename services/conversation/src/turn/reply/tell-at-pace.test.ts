import { expect, test } from "bun:test";
import { createPace } from "@parley/shared/shares/pace";
import { tellAtPace } from "./tell-at-pace.ts";

/** Replies of 10 characters per second, 20 at once. Time stands still, and timers end when the test says so. */
function manual() {
  const timers: (() => void)[] = [];
  const after = (_: number, then: () => void) => {
    timers.push(then);
    return () => {};
  };
  const pace = createPace({ perSecond: 10, atOnce: 20 }, { nowMs: () => 0, after });
  const told: string[] = [];
  const replyOf = (ownerId: string, behind: Promise<void> | null = null) =>
    tellAtPace({
      ...{ ownerId, pace, signal: new AbortController().signal, waitForReader: (caughtUp: Promise<void>) => caughtUp },
      tell: (text) => {
        told.push(text);
        return behind;
      },
    });
  return { replyOf, told, passOn: () => timers.splice(0).forEach((then) => void then()) };
}

test("replies of one owner wait together, another owner's do not, and all that was heard is told at once", async () => {
  const { replyOf, told, passOn } = manual();
  const [one, two, other] = [replyOf("own_1"), replyOf("own_1"), replyOf("own_2")];
  expect([one("a".repeat(20)), two("b".repeat(10))]).toEqual([null, null]);
  const waiting = [one("c"), two("d")];
  expect([other("e".repeat(20)), told.length]).toEqual([null, 5]);
  expect(waiting).not.toContain(null);
  passOn();
  await Promise.all(waiting);
});

test("a turn that waits for both goes on when its reader has caught up and its owner keeps its pace", async () => {
  const reader = Promise.withResolvers<void>();
  const { replyOf, passOn } = manual();
  const say = replyOf("own_1", reader.promise);
  say("a".repeat(21));
  let goesOn = false;
  const waiting = say("b")?.then(() => {
    goesOn = true;
  });
  reader.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  expect(goesOn).toBe(false);
  passOn();
  await waiting;
  expect(goesOn).toBe(true);
});
