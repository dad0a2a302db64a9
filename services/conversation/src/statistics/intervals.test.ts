import { expect, test } from "bun:test";
import { differenceOfMeans, differenceOfShares, tQuantile } from "./intervals.ts";

/** Table II of R. G. Newcombe, Statistics in Medicine 17 (1998), 873-890, method 10: x1/n1, x2/n2, and the interval of their difference. */
const NEWCOMBE = [
  [56, 70, 48, 80, 0.0524, 0.3339],
  [9, 10, 3, 10, 0.1705, 0.809],
  [6, 7, 2, 7, 0.0582, 0.8062],
  [5, 56, 0, 29, -0.0381, 0.1926],
  [0, 10, 0, 20, -0.1611, 0.2775],
  [0, 10, 0, 10, -0.2775, 0.2775],
  [10, 10, 0, 20, 0.6791, 1],
  [10, 10, 0, 10, 0.6075, 1],
] as const;

test.each(NEWCOMBE)("the interval of %d/%d - %d/%d is the one that Newcombe published", (x1, n1, x2, n2, low, high) => {
  const interval = differenceOfShares({ part: x2, n: n2 }, { part: x1, n: n1 });
  expect([rounded(interval.low), rounded(interval.high)]).toEqual([low, high]);
});

test("the interval of two shares that none or all have is symmetric about none, and within -1 and 1", () => {
  for (let n = 30; n <= 300; n++) {
    for (const part of [0, n]) {
      const { low, high } = differenceOfShares({ part, n }, { part, n });
      expect(high).toBe(-low);
      expect(high).toBeGreaterThan(0);
    }
    const { low, high } = differenceOfShares({ part: 0, n }, { part: n, n });
    expect(low).toBeGreaterThan(0);
    expect(rounded(high)).toBeLessThanOrEqual(1);
  }
});

test("the interval of two means is the one that R's documentation shows for Student's sleep data of 1908", () => {
  // t.test(extra ~ group, data = sleep): 95 percent confidence interval -3.3654832 0.2054832, of group 1 - group 2.
  const [one, two] = [
    [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2],
    [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
  ].map(sampleOf) as [Sample, Sample];
  const { low, high } = differenceOfMeans(two, one);
  expect([rounded(low), rounded(high)]).toEqual([-3.3655, 0.2055]);
});

test("the interval of two means is the one of NIST's example of unequal variances", () => {
  // Handbook of Statistical Methods, 1.3.5.3, AUTO83B.DAT: the statistic is -12.94627, with 136.8750 degrees of freedom.
  const [us, japan] = [
    { n: 249, mean: 20.14458, variance: 6.4147 ** 2 },
    { n: 79, mean: 30.48101, variance: 6.10771 ** 2 },
  ];
  const { low, high } = differenceOfMeans(japan, us);
  const statistic = ((low + high) / (high - low)) * tQuantile(136.875);
  expect(statistic).toBeCloseTo(-12.94627, 3);
});

/** Critical values for 97.5 % of the NIST Handbook of Statistical Methods, 1.3.6.7.2. */
const QUANTILES = [
  [9, 2.262],
  [10, 2.228],
  [15, 2.131],
  [20, 2.086],
  [29, 2.045],
  [30, 2.042],
  [40, 2.021],
  [60, 2],
  [100, 1.984],
  [Number.POSITIVE_INFINITY, 1.96],
] as const;

test.each(QUANTILES)("the t quantile of %d degrees of freedom is that of the printed table", (freedom, quantile) => {
  expect(tQuantile(freedom)).toBeCloseTo(quantile, 3);
});

test("samples in which nothing varies differ by exactly their difference", () => {
  const same = { n: 40, mean: 2, variance: 0 };
  expect(differenceOfMeans(same, { ...same, mean: 3 })).toEqual({ low: 1, high: 1 });
});

interface Sample {
  n: number;
  mean: number;
  variance: number;
}

function sampleOf(values: readonly number[]): Sample {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  return { n, mean, variance: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1) };
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
