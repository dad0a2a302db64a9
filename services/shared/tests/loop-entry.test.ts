import { expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { loopEntry } from "@parley/shared/shares/loop-entry";

/** A loop whose turns the test takes, where each piece takes `pieceMs`, and a log of the pieces of each turn. */
function manual(pieceMs: number) {
  const planned: (() => void)[] = [];
  let nowMs = 0;
  const enter = loopEntry({ nextTurn: (run) => planned.push(run), now: () => nowMs });
  const log: string[] = [];
  return {
    async piece(ownerId: string) {
      const turn = enter(ownerId);
      if (turn) await turn;
      // Work begins a few steps later.
      for (let step = 0; step < 10; step++) await Promise.resolve();
      nowMs += pieceMs;
      log.push(ownerId);
    },
    /** Goes on with the turn until it is over. @returns its pieces */
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
  expect(await rest()).toBe("ab");
  expect(await turn()).toBe("ab");
  void piece("c");
  expect(await rest()).toBe("c");
  expect(await turn()).toBe("ab");
});

test("the time of pieces of many owners counts too, and owners take turns", async () => {
  const { piece, rest, turn } = manual(3);
  for (const owner of ["a", "a", "b", "c", "d", "e", "f", "e"]) void piece(owner);
  expect(await rest()).toBe("abcd");
  expect([await turn(), await turn(), await turn(), await turn()]).toEqual(["a", "e", "f", "e"]);
});

test("one piece begins in each turn of the loop, however long the turn has lasted", async () => {
  const planned: (() => void)[] = [];
  let nowMs = 0;
  // Every look at the clock takes longer than a turn may.
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
