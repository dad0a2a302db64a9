import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  addEncoded,
  countOfPart,
  emptySet,
  encodePlaces,
  intersect,
  numbersOfPart,
  PART,
  remove,
} from "./number-set.ts";

const PARTS = 4;
const places = fc.oneof(
  fc.uniqueArray(fc.nat(PART - 1), { maxLength: 20 }),
  // Around the size at which a set switches to bits.
  fc.integer({ min: 120, max: 136 }).map((count) => Array.from({ length: count }, (_, at) => at * 15)),
  fc.constant(Array.from({ length: PART }, (_, at) => at)),
);
const pieces = fc
  .array(
    fc.tuple(
      fc.nat(PARTS - 1),
      places.map((some) => some.toSorted((a, b) => a - b)),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.map(([part, some]) => ({ part, places: some })));

function setOf(given: readonly { part: number; places: number[] }[]) {
  const set = emptySet(PARTS);
  addEncoded(set, Buffer.concat(given.map(({ part, places: some }) => encodePlaces(part, some))));
  return set;
}

const numbers = (set: Uint8Array) => Array.from({ length: PARTS }, (_, part) => [...numbersOfPart(set, part)]).flat();
const plain = (given: readonly { part: number; places: number[] }[]) =>
  new Set(given.flatMap(({ part, places: some }) => some.map((place) => part * PART + place)));
const ascending = (set: ReadonlySet<number>) => [...set].sort((a, b) => a - b);

test("a set returns the numbers that were put in, counted and ascending, whatever the pieces", () => {
  fc.assert(
    fc.property(pieces, pieces, fc.nat(PARTS * PART), (one, other, gone) => {
      const set = setOf([...one, ...other]);
      const wanted = plain([...one, ...other]);
      expect(numbers(set)).toEqual(ascending(wanted));
      remove(set, gone);
      wanted.delete(gone);
      expect(numbers(set)).toEqual(ascending(wanted));
      const counted = Array.from({ length: PARTS }, (_, part) => countOfPart(set, part));
      expect(counted.reduce((sum, count) => sum + count)).toBe(wanted.size);
    }),
  );
});

test("an intersection contains what is in both", () => {
  fc.assert(
    fc.property(pieces, pieces, (one, other) => {
      const set = setOf(one);
      intersect(set, setOf(other));
      expect(numbers(set)).toEqual(ascending(plain(one).intersection(plain(other))));
    }),
  );
});

test("numbers of parts added after a set was made are left out", () => {
  const set = emptySet(1);
  addEncoded(set, Buffer.concat([encodePlaces(1, [0, 1]), encodePlaces(0, [5])]));
  expect([...numbersOfPart(set, 0)]).toEqual([5]);
});
