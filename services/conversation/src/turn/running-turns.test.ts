import { expect, test } from "bun:test";
import { runningTurns, wordsRestMs } from "./running-turns.ts";

test("turns are counted by owner until they end", () => {
  const turns = runningTurns();
  const counts = () => [turns.count(), turns.countOf("a"), turns.countOf("b")];
  const [first, second, other] = [turns.begin("a"), turns.begin("a"), turns.begin("b")];
  expect(counts()).toEqual([3, 2, 1]);
  first();
  first();
  other();
  expect(counts()).toEqual([1, 1, 0]);
  second();
  expect(counts()).toEqual([0, 0, 0]);
});

test("only an owner's own crowd of turns makes its words wait longer", () => {
  expect(wordsRestMs(7, 7)).toBe(0);
  expect(wordsRestMs(8, 1)).toBe(10);
  expect(wordsRestMs(500, 127)).toBe(10);
  expect(wordsRestMs(500, 128)).toBe(40);
});
