import { expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { createCompany } from "@parley/shared/shares/company";
import { type EnterLoop, loopEntry } from "@parley/shared/shares/loop-entry";

/** A loop whose turns the test runs, where each piece takes `pieceMs`, and a log of the pieces of each turn. */
function manual(pieceMs: number) {
  const planned: (() => void)[] = [];
  const rests: { ms: number; end: () => void }[] = [];
  let nowMs = 0;
  const company = createCompany({ nowMs: () => nowMs });
  const after = (ms: number, end: () => void) => rests.push({ ms, end });
  const enter = loopEntry({ nextTurn: (run) => planned.push(run), after, now: () => nowMs, company });
  const log: string[] = [];
  return {
    async piece(ownerId: string) {
      const turn = enter(ownerId);
      if (turn) await turn;
      // The work begins a few microtasks later.
      for (let step = 0; step < 10; step++) await Promise.resolve();
      nowMs += pieceMs;
      log.push(ownerId);
    },
    /** Continues the turn until it is over. @returns its pieces */
    async rest(): Promise<string> {
      await setImmediate();
      return log.splice(0).join("");
    },
    async turn(): Promise<string> {
      for (const run of planned.splice(0)) run();
      await setImmediate();
      return log.splice(0).join("");
    },
    isIdle: () => planned.length === 0,
    /** Ends the rest of an owner. @returns how long it was to be, in milliseconds */
    endRest(): number | undefined {
      const rest = rests.shift();
      rest?.end();
      return rest?.ms;
    },
    /** Other work takes this long. */
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

test("an owner's pieces beyond two milliseconds begin in later turns of the loop, in order", async () => {
  const { piece, rest, turn, isIdle } = manual(0.5);
  const pieces = Array.from({ length: 10 }, () => piece("a"));
  expect(await rest()).toBe("aaaa");
  expect([await turn(), await turn(), await turn()]).toEqual(["aaaa", "aa", ""]);
  await Promise.all(pieces);
  expect(isIdle()).toBe(true);
});

test("another owner's piece does not wait behind an owner's flood", async () => {
  const { piece, rest, turn } = manual(1);
  for (let at = 0; at < 10; at++) void piece("a");
  for (let at = 0; at < 3; at++) void piece("b");
  expect(await rest()).toBe("aaaab");
  expect(await turn()).toBe("ab");
  void piece("c");
  expect(await rest()).toBe("c");
  expect(await turn()).toBe("ab");
});

test("the time of pieces of many owners counts too, and owners take turns", async () => {
  const { piece, rest, turn } = manual(3);
  for (const owner of ["a", "b", "a", "b", "c", "d", "e", "f", "e"]) void piece(owner);
  expect(await rest()).toBe("abcd");
  const turns = [await turn(), await turn(), await turn(), await turn(), await turn()];
  expect(turns).toEqual(["a", "b", "e", "f", "e"]);
});

test("an owner alone begins four pieces, or as many as are short, at once, as long as the turn has lasted less than two milliseconds", () => {
  let nowMs = 0;
  const begins = (enter: EnterLoop, owners: string) => [...owners].map((owner) => enter(owner) === null);
  const own = () => ({ nextTurn: () => {}, company: createCompany() });
  const unhurried = loopEntry({ ...own(), now: () => 0 });
  expect(begins(unhurried, "aaaaa")).toEqual([true, true, true, true, false]);
  const short = loopEntry({ ...own(), aloneMax: 5, now: () => 0 });
  expect(begins(short, "aaaaaab")).toEqual([true, true, true, true, true, false, true]);
  const hurried = loopEntry({ ...own(), now: () => nowMs });
  expect(begins(hurried, "aa")).toEqual([true, true]);
  nowMs = 2;
  expect(begins(hurried, "a")).toEqual([false]);
});

test("after a long turn of the loop, a piece begins for each millisecond that other work took in it, 16 at most", async () => {
  const { piece, rest, turn, pass } = manual(1);
  for (let at = 0; at < 60; at++) void piece("a");
  expect(await rest()).toBe("aaaa");
  pass(7);
  expect(await turn()).toBe("a".repeat(7));
  expect(await turn()).toBe("aa");
  pass(100);
  expect(await turn()).toBe("a".repeat(16));
  expect(await turn()).toBe("aa");
});

test("after a long turn of the loop, an owner among others begins three pieces, and all of them eight", async () => {
  const { piece, rest, turn, pass } = manual(1);
  for (let at = 0; at < 18; at++) void piece("a");
  for (const owner of ["b", "b", "b"]) void piece(owner);
  expect(await rest()).toBe("aaaab");
  pass(7);
  expect(await turn()).toBe("ababa");
  expect(await turn()).toBe("aa");
  pass(100);
  expect(await turn()).toBe("aaa");
  for (let at = 0; at < 9; at++) for (const owner of ["b", "c"]) void piece(owner);
  await rest();
  pass(100);
  expect(await turn()).toBe("abcabcab");
});

test("an owner among others with 16 waiting pieces rests three times as long as the turn of the loop in which its last ones began", async () => {
  const { piece, rest, turn, endRest, isIdle } = manual(1);
  void piece("b");
  for (let at = 0; at < 21; at++) void piece("a");
  expect(await rest()).toBe("ba");
  expect(await turn()).toBe("");
  expect(isIdle()).toBe(true);
  void piece("b");
  expect(await rest()).toBe("b");
  expect(await turn()).toBe("");
  expect(endRest()).toBe(6);
  expect(await rest()).toBe("aa");
  expect(await turn()).toBe("");
  expect(endRest()).toBe(6);
  expect(await rest()).toBe("aa");
  expect(await turn()).toBe("");
  expect(endRest()).toBe(6);
  // Fifteen are left, which are no flood.
  expect(await rest()).toBe("aa");
  expect(await turn()).toBe("aa");
  expect(endRest()).toBeUndefined();
});

test("while an owner rests, the other owners' waiting pieces begin, and of two floods the longer one rests", async () => {
  const { piece, rest, turn, endRest } = manual(1);
  for (let at = 0; at < 40; at++) void piece("a");
  for (let at = 0; at < 30; at++) void piece("b");
  expect(await rest()).toBe("aaaab");
  expect(await turn()).toBe("bb");
  expect(await turn()).toBe("bb");
  expect(endRest()).toBe(15);
  expect(await turn()).toBe("ab");
});

test("a rest lasts at most 25 ms, and an owner alone never rests", async () => {
  const { piece, rest, turn, endRest, pass } = manual(1);
  for (let at = 0; at < 60; at++) void piece("a");
  expect(await rest()).toBe("aaaa");
  expect(await turn()).toBe("aa");
  expect(endRest()).toBeUndefined();
  void piece("b");
  pass(100);
  await rest();
  await turn();
  expect(endRest()).toBe(25);
});

test("an owner that is not alone begins one piece at once, until it has been alone for a second", () => {
  let nowMs = 0;
  const turns: (() => void)[] = [];
  const company = createCompany({ nowMs: () => nowMs });
  const enter = loopEntry({ nextTurn: (run) => turns.push(run), now: () => 0, company });
  const begins = (owners: string) => [...owners].map((owner) => enter(owner) === null);
  const nextTurn = () => {
    for (const run of turns.splice(0)) run();
  };
  expect(begins("aba")).toEqual([true, true, false]);
  nextTurn();
  nextTurn();
  nowMs = 999;
  expect(begins("aa")).toEqual([true, false]);
  nextTurn();
  nextTurn();
  nowMs = 1_000;
  expect(begins("aa")).toEqual([true, true]);
});

test("one piece begins in each turn of the loop, however long the turn has lasted", async () => {
  const planned: (() => void)[] = [];
  let nowMs = 0;
  // Each reading of the clock shows that more time has passed than a turn may take.
  const enter = loopEntry({ nextTurn: (run) => planned.push(run), now: () => (nowMs += 10) });
  const begun: number[] = [];
  for (let piece = 0; piece < 4; piece++) enter("a")?.then(() => begun.push(piece));
  for (let turn = 0; turn < 3; turn++) {
    for (const run of planned.splice(0)) run();
    await setImmediate();
  }
  expect(begun).toEqual([1, 2, 3]);
});

test("a lone piece begins at once", async () => {
  const enter = loopEntry();
  expect(enter("a")).toBeNull();
  await setImmediate();
  await setImmediate();
  expect(enter("a")).toBeNull();
});
