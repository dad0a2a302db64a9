import { expect, test } from "bun:test";
import { type Difference, type Figures, figureOf, summaryOf, unitOf, verdictOf } from "./figure-words.ts";

const FIGURES: Figures = {
  conversations: 4,
  outcomes: { n: 4, shares: { COMPLETED: 0.75, FAILED: 0.25 } },
  call_outcomes: { n: 0, shares: {} },
  tool_failures: { n: 4, share: 0 },
  analysis: {
    solved: { n: 4, share: 0.5 },
    mood: { n: 4, shares: { "very.good": 1 } },
    score: { n: 4, mean: 7.5 },
  },
  call_seconds: { n: 0, mean: null },
  text_latency: { replies: 8, p50_ms: 600, p95_ms: null },
  call_latency: null,
  replies: 8,
  cost_usd_micros: 400,
  unpriced_replies: 0,
};
const difference = (changed: Partial<Difference>): Difference => ({
  ...{ figure: "tool_failures", difference: 0.1, low: 0.05, high: 0.15 },
  ...changed,
});

test("each figure that a comparison names is found in the figures of a version, with its unit", () => {
  const found: [figure: string, value: number | null, unit: string][] = [
    ["conversations", 4, "count"],
    ["outcomes.COMPLETED", 0.75, "share"],
    ["outcomes.DISCONNECTED", 0, "share"],
    ["call_outcomes.SUCCESS", null, "share"],
    ["tool_failures", 0, "share"],
    ["analysis.solved", 0.5, "share"],
    ["analysis.mood.very.good", 1, "share"],
    ["analysis.mood.bad", 0, "share"],
    ["analysis.score", 7.5, "number"],
    ["analysis.gone", null, "share"],
    ["call_seconds", null, "seconds"],
    ["text_latency.p50_ms", 600, "ms"],
    ["text_latency.p95_ms", null, "ms"],
    ["call_latency.p50_ms", null, "ms"],
    ["cost_usd_micros", 100, "usd_micros"],
  ];
  expect(found.map(([figure]) => [figure, figureOf(FIGURES, figure), unitOf(FIGURES, figure)])).toEqual(found);
  expect(figureOf({ ...FIGURES, unpriced_replies: 1 }, "cost_usd_micros")).toBeNull();
});

test("a difference that is good or bad by itself is judged, and another one only has a direction", () => {
  expect(verdictOf(difference({ verdict: "worse" }))).toBe("Worse");
  expect(verdictOf(difference({ verdict: "too_few", low: null, high: null }))).toBe("Too few to tell");
  expect(verdictOf(difference({}))).toBe("Higher");
  expect(verdictOf(difference({ low: -0.2, high: -0.1 }))).toBe("Lower");
  expect(verdictOf(difference({ low: null, high: null }))).toBeNull();
});

test("the summary of a comparison says which version is better, or that nothing tells", () => {
  const names = { from: "version 1", to: "Version 2" };
  const summary = (...verdicts: Difference["verdict"][]) =>
    summaryOf(
      verdicts.map((verdict) => difference(verdict ? { verdict } : {})),
      names,
    );
  expect(summary("better", "better", "same")).toBe(
    "Version 2 is better than version 1 in 2 figures and worse in none.",
  );
  expect(summary("worse", "better")).toBe("Version 2 is better than version 1 in 1 figure and worse in 1 figure.");
  expect(summary("same", "too_few")).toBe("No figure shows that Version 2 is better or worse than version 1.");
  expect(summary("too_few", undefined)).toBe("Too few conversations have ended to tell: each version needs 30.");
});
