import { expect, test } from "bun:test";
import { createCompany } from "@parley/shared/shares/company";
import { answersAhead } from "./answers-ahead.ts";

const STAYS = new AbortController().signal;
const CHUNK = 128 * 1024;

/** Owner `a` among others, in time that the test tells. */
function manual() {
  let nowMs = 0;
  const timers = new Set<{ atMs: number; then: () => void }>();
  const time = {
    nowMs: () => nowMs,
    after: (ms: number, then: () => void) => {
      const timer = { atMs: nowMs + ms, then };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
  const company = createCompany(time);
  const answers = answersAhead(time, company);
  company.enter("victim");
  let asked = 0;
  return {
    /** @returns whether the turn asks at once */
    ask: (ownerId = "a", gone = STAYS) => {
      const answer = answers.ask(ownerId);
      const due = answer.due(gone);
      void due?.then(() => asked++);
      return { answer, isDue: due === null };
    },
    /** Thirty answers of a megabyte arrive. */
    flood: () => {
      for (let at = 0; at < 30; at++) answers.ask("a").arrived(1024 * 1024);
    },
    /** @returns how many questions that waited have been asked */
    pass: async (ms: number) => {
      nowMs += ms;
      for (const timer of timers) if (timer.atMs <= nowMs && timers.delete(timer)) timer.then();
      for (let step = 0; step < 5; step++) await Promise.resolve();
      return asked;
    },
    timers: () => timers.size,
  };
}

test("an owner whose model answers faster than its turns read asks 32 times a second beside others", async () => {
  const { ask, pass } = manual();
  const begun = Array.from({ length: 8 }, () => ask());
  expect(begun.every(({ isDue }) => isDue)).toBe(true);
  for (const { answer } of begun) answer.arrived(CHUNK);
  const later = Array.from({ length: 40 }, () => ask());
  expect(later.filter(({ isDue }) => isDue).length).toBeLessThanOrEqual(3);
  expect(await pass(0)).toBe(0);
  const [first, second] = [await pass(250), await pass(500)];
  expect(first).toBeGreaterThanOrEqual(7);
  expect(second - first).toBe(16);
});

test("nobody waits behind another owner's answers, and no question waits longer than two seconds", async () => {
  const { ask, flood, pass, timers } = manual();
  flood();
  expect(ask().isDue).toBe(false);
  expect(ask("b").isDue).toBe(true);
  expect(await pass(1_999)).toBe(0);
  expect(await pass(1)).toBe(1);
  expect(timers()).toBe(0);
});

test("answers that arrive as they are read hold up no question", () => {
  const { ask } = manual();
  for (let at = 0; at < 1_000; at++) {
    const { answer, isDue } = ask();
    expect(isDue).toBe(true);
    answer.arrived(32 * 1024);
  }
});

test("an owner whose answers have become short again asks at once", () => {
  const { ask, flood } = manual();
  flood();
  expect(ask().isDue).toBe(false);
  for (let at = 0; at < 6; at++) ask().answer.end();
  expect(ask().isDue).toBe(true);
});

test("a question whose client leaves waits no longer", async () => {
  const { ask, flood, pass, timers } = manual();
  flood();
  const gone = new AbortController();
  ask("a", gone.signal);
  gone.abort();
  expect(await pass(0)).toBe(1);
  expect(timers()).toBe(0);
});
