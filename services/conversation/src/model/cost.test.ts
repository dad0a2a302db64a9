import { expect, test } from "bun:test";
import { costUsdMicros, sumOfCosts } from "./cost.ts";

const PRICE = { input: 2, output: 8, cachedInput: 0.5, cacheWrite: 2.5, inputTokensMax: 10_000, source: "", date: "" };
const UNCACHED = { input: 2, output: 8, source: "", date: "" };
const usage = (inputTokens: number | undefined, outputTokens: number | undefined, given = {}) => ({
  inputTokens,
  outputTokens,
  ...given,
});

test.each([
  ["every token at its price", PRICE, usage(1_000, 100), 2_800],
  ["cached input at its own price", PRICE, usage(1_000, 100, { cachedInputTokens: 600 }), 1_900],
  ["cache writes at their own price", PRICE, usage(1_000, 100, { cacheWriteTokens: 400 }), 3_000],
  ["cached input as input without a price of its own", UNCACHED, usage(1_000, 0, { cachedInputTokens: 600 }), 2_000],
  ["a model that is free", { ...UNCACHED, input: 0, output: 0 }, usage(1_000, 100), 0],
  ["less than a millionth, rounded", { ...UNCACHED, input: 0.05, output: 0.4 }, usage(3, 1), 1],
  ["as much input as the price holds for", PRICE, usage(10_000, 0), 20_000],
])("the cost is that of %s", (_, price, used, cost) => {
  expect(costUsdMicros(price, used)).toBe(cost);
});

test.each([
  ["price", undefined, usage(1_000, 100)],
  ["input tokens", PRICE, usage(undefined, 100)],
  ["output tokens", PRICE, usage(1_000, undefined)],
  ["price of so much input", PRICE, usage(10_001, 100)],
  ["meaning of negative tokens", PRICE, usage(1_000, -1)],
  ["meaning of more cached input than input", PRICE, usage(1_000, 1, { cachedInputTokens: 1_001 })],
  ["meaning of absurd counts", UNCACHED, usage(1e300, 1)],
  ["meaning of counts that are no numbers", UNCACHED, usage(Number.NaN, 1)],
])("the cost is unknown without a %s", (_, price, used) => {
  expect(costUsdMicros(price, used)).toBeNull();
});

test("a sum with an unknown cost is unknown", () => {
  expect([sumOfCosts(1, 2), sumOfCosts(null, 2), sumOfCosts(0, null)]).toEqual([3, null, null]);
});
