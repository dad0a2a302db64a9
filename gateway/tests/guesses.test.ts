import { expect, test } from "bun:test";
import { failureOf } from "@parley/testkit/failures";
import { createGuesses, fewFirst } from "../src/rate-limit/guesses.ts";
import type { RateLimiter } from "../src/rate-limit/limiter.ts";
import { memoryLimiter } from "../src/rate-limit/memory.ts";

const ALLOWED = 60;
const STAYS = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Guesses with a clock, an address that has used up its wrong ones, and the look-ups that were made. */
async function suspect() {
  let nowMs = 0;
  let taken = 0;
  const limits = memoryLimiter({ clock: () => nowMs });
  const limiter: RateLimiter = {
    take: (key, limit) => {
      taken++;
      return limits.take(key, limit);
    },
  };
  const guesses = createGuesses({ limiter, pauseMs: 0, now: () => nowMs });
  for (let at = 0; at < ALLOWED; at++) await guesses.count("guesser", "too many");
  expect(await failureOf(guesses.count("guesser", "too many"))).toMatchObject({ kind: "rate_limited" });
  const begun: string[] = [];
  const lookUp = (address: string, found: string, find: () => Promise<unknown> = settled) =>
    guesses.look(
      { of: address, sent: found, gone: () => STAYS },
      async () => {
        begun.push(found);
        await find();
        return found;
      },
      (what) => what.startsWith("wrong"),
    );
  return { guesses, begun, lookUp, taken: () => taken, advance: (ms: number) => (nowMs += ms) };
}

test("keys from an address that was wrong too often are looked up one at a time, and right ones are found", async () => {
  const { begun, lookUp } = await suspect();
  const all = ["wrong 1", "wrong 2", "right", "wrong 3"].map((found) => lookUp("guesser", found));
  await settled();
  expect(begun).toEqual(["wrong 1"]);
  expect(await all[2]).toBe("right");
  await Promise.all(all);
  expect(begun).toEqual(["wrong 1", "wrong 2", "right", "wrong 3"]);
});

test("a key that was right before does not wait behind the guesses of its address", async () => {
  const { begun, lookUp } = await suspect();
  await lookUp("guesser", "right");
  const hanging = Promise.withResolvers<void>();
  const first = lookUp("guesser", "wrong 1", () => hanging.promise);
  const second = lookUp("guesser", "wrong 2");
  expect(await lookUp("guesser", "right")).toBe("right");
  expect(begun).not.toContain("wrong 2");
  hanging.resolve();
  await Promise.all([first, second]);
});

test("no other address waits for one that was wrong too often", async () => {
  const { begun, lookUp } = await suspect();
  const hanging = Promise.withResolvers<void>();
  const first = lookUp("guesser", "wrong 1", () => hanging.promise);
  const second = lookUp("guesser", "wrong 2");
  expect(await lookUp("somebody", "right")).toBe("right");
  expect(begun.toSorted()).toEqual(["right", "wrong 1"]);
  hanging.resolve();
  await Promise.all([first, second]);
});

test("wrong guesses beyond the limit are refused without asking the limiter, until it would allow the next", async () => {
  const { guesses, taken, advance } = await suspect();
  const before = taken();
  const refused = await failureOf(guesses.count("guesser", "too many"));
  expect(refused).toMatchObject({ kind: "rate_limited", detail: "too many", retryAfterMs: 60_000 });
  expect(taken()).toBe(before);
  advance(60_001);
  await guesses.count("guesser", "too many");
});

test("first look-ups of an address are made two at a time, from its first one on", async () => {
  const guesses = createGuesses({ limiter: memoryLimiter(), pauseMs: 0 });
  const few = fewFirst(1);
  const begun: number[] = [];
  const hanging = Promise.withResolvers<void>();
  const lookUp = (address: string, at: number) =>
    guesses.lookFirst(
      { of: address, gone: () => STAYS },
      few,
      () => {
        begun.push(at);
        return hanging.promise;
      },
      () => true,
    );
  const all = [lookUp("guesser", 1), lookUp("guesser", 2), lookUp("guesser", 3), lookUp("somebody", 4)];
  await settled();
  expect(begun).toEqual([1, 2, 4]);
  expect(await failureOf(lookUp("guesser", 5))).toMatchObject({ kind: "rate_limited" });
  hanging.resolve();
  await Promise.all(all);
  expect(begun).toEqual([1, 2, 4, 3]);
});

test("a first look-up beyond those that may wait is refused in the name of the address, and not of an account", async () => {
  const { guesses } = await suspect();
  const few = fewFirst(1);
  const hanging = Promise.withResolvers<void>();
  const look = () =>
    guesses.lookFirst(
      { of: "carrier", gone: () => STAYS },
      few,
      () => hanging.promise,
      () => false,
    );
  const waiting = [look(), look(), look()];
  await settled();
  expect(await failureOf(look())).toMatchObject({
    kind: "rate_limited",
    detail: "This address has too many requests in progress. Try again.",
  });
  hanging.resolve();
  await Promise.all(waiting);
});
