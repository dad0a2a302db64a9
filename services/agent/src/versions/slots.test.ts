import { expect, test } from "bun:test";
import fc from "fast-check";
import type { TrafficShare } from "../store/agents.ts";
import { allSlots, checkSplit, moveSlots } from "./slots.ts";

/** Splits of 1 to 4 of eight versions. */
const splits = fc.uniqueArray(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 4 }).chain((versions) =>
  fc
    .uniqueArray(fc.integer({ min: 1, max: 99 }), { minLength: versions.length - 1, maxLength: versions.length - 1 })
    .map((cuts) => {
      const ends = [...cuts.toSorted((a, b) => a - b), 100];
      return versions.map((agentVersion, at) => ({ agentVersion, weight: (ends[at] ?? 0) - (ends[at - 1] ?? 0) }));
    }),
);

const weightIn = (slots: readonly number[], version: number) => slots.filter((slot) => slot === version).length;
const weightOf = (split: readonly TrafficShare[], version: number) =>
  split.find(({ agentVersion }) => agentVersion === version)?.weight ?? 0;

test("each version of a split has as many of the 100 slots as its weight says", () => {
  fc.assert(
    fc.property(splits, splits, (first, second) => {
      checkSplit(second);
      const slots = moveSlots(moveSlots(allSlots(9), first), second);
      expect(slots).toHaveLength(100);
      for (const { agentVersion, weight } of second) expect(weightIn(slots, agentVersion)).toBe(weight);
    }),
  );
});

test("a change of a split moves no caller but from a version whose weight falls to one whose weight rises", () => {
  fc.assert(
    fc.property(splits, splits, (first, second) => {
      const before = moveSlots(allSlots(9), first);
      const after = moveSlots(before, second);
      for (const [slot, was] of before.entries()) {
        const now = after[slot] ?? 0;
        if (now === was) continue;
        expect(weightOf(second, was)).toBeLessThan(weightOf(first, was));
        expect(weightOf(second, now)).toBeGreaterThan(weightOf(first, now));
      }
    }),
  );
});

test.each<[string, TrafficShare[]]>([
  ["no version", []],
  ["five versions", [1, 2, 3, 4, 5].map((agentVersion) => ({ agentVersion, weight: 20 }))],
  ["99 %", [{ agentVersion: 1, weight: 99 }]],
  ["a version twice", [1, 1].map((agentVersion) => ({ agentVersion, weight: 50 }))],
  ["a weight of 0", [0, 100].map((weight) => ({ agentVersion: weight, weight }))],
])("a split of %s is refused", (_, split) => {
  expect(() => checkSplit(split)).toThrow("split");
});
