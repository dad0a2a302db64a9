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
  /** Those that wait for their turn on the loop, while it is busy. */
  const entering: (() => void)[] = [];
  let isBusy = false;
  const enter = () => (isBusy ? new Promise<void>((resolve) => entering.push(resolve)) : null);
  const ask = (ownerId = "a", gone = STAYS, answer = answers.ask(ownerId)) => {
    const due = answer.due(gone, enter);
    void due?.then(() => asked++);
    return { answer, isDue: due === null };
  };
  return {
    /** @returns whether the turn asks at once */
    ask,
    /** Thirty answers of a megabyte arrive. */
    flood: () => {
      for (let at = 0; at < 30; at++) answers.ask("a").arrived(1024 * 1024);
    },
    /** The owner's answers bring a chunk each from now on, and its pace owes nothing. */
    expectChunks: () => {
      answers.ask("a").arrived(CHUNK);
      nowMs += 60_000;
      company.enter("victim");
    },
    entering,
    keepBusy: () => {
      isBusy = true;
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
  const { ask, timers } = manual();
  for (let at = 0; at < 1_000; at++) {
    const { answer, isDue } = ask();
    expect(isDue).toBe(true);
    answer.end();
  }
  expect(timers()).toBe(0);
});

test("a hundred questions are asked at their pace, and those that waited the longest one by one", async () => {
  const { ask, expectChunks, keepBusy, entering, pass } = manual();
  expectChunks();
  const atOnce = Array.from({ length: 100 }, () => ask()).filter(({ isDue }) => isDue).length;
  expect(atOnce).toBe(9);
  expect(await pass(1_999)).toBe(63);
  keepBusy();
  expect(await pass(1)).toBe(63);
  expect(entering).toHaveLength(28);
  entering.pop()?.();
  expect(await pass(0)).toBe(64);
});

test("questions that waited the longest owe nothing, so the next one does not wait for them too", async () => {
  const { ask, expectChunks, pass } = manual();
  expectChunks();
  for (let at = 0; at < 100; at++) ask();
  expect(await pass(2_000)).toBe(91);
  expect(ask().isDue).toBe(true);
});

test("short answers end no debt, and the owner asks at once when it is paid", async () => {
  const { ask, flood, pass } = manual();
  flood();
  for (let at = 0; at < 10; at++) {
    const { answer, isDue } = ask();
    expect(isDue).toBe(false);
    answer.end();
  }
  expect(ask().isDue).toBe(false);
  await pass(60_000);
  expect(ask().isDue).toBe(true);
});

test("what was expected and did not arrive is given back, whether it was asked for or its client left before", async () => {
  const { ask, expectChunks } = manual();
  expectChunks();
  const gone = new AbortController();
  const begun = [...Array.from({ length: 8 }, () => ask()), ...Array.from({ length: 20 }, () => ask("a", gone.signal))];
  expect(ask().isDue).toBe(false);
  gone.abort();
  for (const { answer } of begun) answer.end();
  expect(ask().isDue).toBe(true);
});

test("an owner owes two seconds at most, however much has arrived", async () => {
  const { ask, flood, pass } = manual();
  for (let at = 0; at < 10; at++) flood();
  await pass(2_000);
  expect(ask().isDue).toBe(true);
});

test("the answers to each of a turn's questions count, those of its retries too", () => {
  const { ask } = manual();
  const { answer, isDue } = ask();
  expect(isDue).toBe(true);
  answer.arrived(CHUNK);
  answer.arrived(CHUNK);
  for (let round = 2; round <= 4; round++) {
    expect(ask("a", STAYS, answer).isDue).toBe(true);
    answer.arrived(2 * CHUNK);
  }
  answer.end();
  // Eight chunks beside others are what the owner has at once.
  expect(ask().isDue).toBe(true);
  expect(ask().isDue).toBe(false);
});

test("a question whose client has left does not wait, and costs nothing", () => {
  const { ask, flood, timers } = manual();
  flood();
  expect(ask("a", AbortSignal.abort()).isDue).toBe(true);
  expect(timers()).toBe(0);
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
