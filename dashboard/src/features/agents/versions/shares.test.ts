import { expect, test } from "bun:test";
import { reweighted, withoutVersion, withVersion } from "./shares.ts";

const split = (...weights: number[]) => weights.map((weight, at) => ({ agent_version: at + 1, weight }));
const weightsOf = (shares: readonly { weight: number }[]) => shares.map(({ weight }) => weight);

test("moving one share of a split keeps the proportions of the others, and all sum to 100", () => {
  expect(weightsOf(reweighted(split(50, 50), 1, 90))).toEqual([90, 10]);
  expect(weightsOf(reweighted(split(20, 60, 20), 1, 60))).toEqual([60, 30, 10]);
  for (let weight = -5; weight <= 105; weight++) {
    const moved = weightsOf(reweighted(split(40, 30, 20, 10), 3, weight));
    expect(moved.reduce((sum, each) => sum + each, 0)).toBe(100);
    expect(Math.min(...moved)).toBeGreaterThanOrEqual(1);
  }
});

test("a version that joins a split takes its share from the others, and one that leaves gives it back", () => {
  const three = withVersion(split(80, 20), 3, 10);
  expect(weightsOf(three)).toEqual([72, 18, 10]);
  expect(weightsOf(withoutVersion(three, 3))).toEqual([80, 20]);
  expect(weightsOf(withoutVersion(split(1, 1, 98), 3))).toEqual([50, 50]);
});
