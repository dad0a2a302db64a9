import { expect, test } from "bun:test";
import fc from "fast-check";
import { partsOfNewest, slice } from "./newest.ts";

/** Few moments, so that many conversations begin at the same one. */
const moments = fc.array(fc.nat(12), { maxLength: 8 });

test("the parts that are read contain all of the newest matches, in whatever order their conversations began", () => {
  fc.assert(
    fc.property(fc.array(moments, { maxLength: 6 }), fc.integer({ min: 1, max: 20 }), (held, wanted) => {
      const parts = held.map((began, part) => ({
        part,
        firstBegan: Math.min(...began),
        lastBegan: Math.max(...began),
      }));
      const taken = partsOfNewest(parts, (part) => held[part]?.length ?? 0, wanted);
      const read = new Set(taken.map(({ part }) => part));
      const newest = held
        .flatMap((all, part) => all.map((began) => ({ began, part })))
        .sort((a, b) => b.began - a.began);
      const last = newest[Math.min(wanted, newest.length) - 1]?.began ?? Number.POSITIVE_INFINITY;
      // Includes conversations that began at the same moment as the last one, because their order is decided elsewhere.
      for (const { began, part } of newest) if (began >= last) expect(read.has(part)).toBeTrue();
    }),
  );
});

test("parts with only older matches are not read", () => {
  const parts = [1, 2, 3].map((part) => ({ part, firstBegan: part * 10, lastBegan: part * 10 + 9 }));
  expect(partsOfNewest(parts, () => 5, 7).map(({ part }) => part)).toEqual([3, 2]);
  expect(partsOfNewest(parts, (part) => (part === 3 ? 0 : 5), 5).map(({ part }) => part)).toEqual([2]);
});

test("a slice has everything that the page may contain, however matches of one moment are ordered, and the number of newer ones", () => {
  fc.assert(
    fc.property(moments, fc.nat(8), fc.integer({ min: 1, max: 8 }), (began, start, size) => {
      const { newer, held } = slice(
        began.map((each) => ({ began: each })),
        start,
        start + size,
      );
      const ordered = began.toSorted((a, b) => b - a);
      const page = ordered.slice(start, start + size);
      expect(held.map((each) => each.began)).toEqual(ordered.filter((each) => page.includes(each)));
      expect(newer).toBe(Math.max(0, ordered.indexOf(page[0] ?? -1)));
    }),
  );
});
