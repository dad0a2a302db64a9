import { expect, test } from "bun:test";
import type { CountedFigure, CountedRow } from "../store/figures/version-figures.ts";
import { compareVersions, type Difference } from "./compare-versions.ts";
import { versionFigures } from "./version-figures.ts";

type Row = Partial<CountedRow> & { figure: CountedFigure; n: number };

const figures = (...rows: Row[]) =>
  versionFigures(
    rows.map((row) => {
      const { n, total = 0 } = row;
      return { agentVersion: 1, field: "", value: "", total, mean: total / n, variance: 0, ...row };
    }),
  );
/** 60 conversations that have ended, of which some were completed, the others failed. */
const ended = (completed: number, all = 60) =>
  figures(
    { figure: "conversations", n: all },
    { figure: "outcomes", value: "COMPLETED", n: completed },
    { figure: "outcomes", value: "FAILED", n: all - completed },
  );
const judged = (differences: readonly Difference[], name: string) =>
  differences.find(({ figure }) => figure === name) ?? null;

test("a version that completes more conversations is better, and failing fewer of them is better too", () => {
  const differences = compareVersions(ended(30), ended(55));
  const completed = judged(differences, "outcomes.COMPLETED");
  expect(completed).toMatchObject({ verdict: "better" });
  expect(completed?.difference).toBeCloseTo(25 / 60);
  expect(judged(differences, "outcomes.FAILED")?.verdict).toBe("better");
  expect(judged(compareVersions(ended(55), ended(30)), "outcomes.COMPLETED")?.verdict).toBe("worse");
});

test("versions whose difference may be chance are the same", () => {
  const same = judged(compareVersions(ended(40), ended(44)), "outcomes.COMPLETED");
  expect(same?.verdict).toBe("same");
  expect([(same?.interval?.low ?? 0) < 0, (same?.interval?.high ?? 0) > 0]).toEqual([true, true]);
});

test("29 conversations of a version are too few to tell, however much it differs, and 30 are enough", () => {
  expect(judged(compareVersions(ended(5), ended(29, 29)), "outcomes.COMPLETED")).toMatchObject({
    interval: null,
    verdict: "too_few",
  });
  expect(judged(compareVersions(ended(5), ended(30, 30)), "outcomes.COMPLETED")?.verdict).toBe("better");
});

test("a version without any conversation has no difference, and too few to tell", () => {
  expect(judged(compareVersions(ended(5), figures()), "tool_failures")).toEqual({
    figure: "tool_failures",
    difference: null,
    interval: null,
    verdict: "too_few",
  });
});

test("fields of an analysis are compared by share, by word and by mean, and nobody judges a difference but their owner", () => {
  const analyzed = (solved: number, angry: number, score: number) =>
    figures(
      { figure: "booleans", field: "solved", value: "true", n: solved },
      { figure: "booleans", field: "solved", value: "false", n: 100 - solved },
      { figure: "literals", field: "mood", value: "angry", n: angry },
      { figure: "literals", field: "mood", value: "calm", n: 100 - angry },
      { figure: "numbers", field: "score", n: 100, total: score * 100, variance: 4 },
    );
  const differences = compareVersions(analyzed(50, 20, 6), analyzed(90, 21, 8));
  const seen = differences.filter(({ figure }) => figure.startsWith("analysis."));
  expect(seen.map(({ figure, verdict }) => [figure, verdict])).toEqual([
    ["analysis.mood.angry", "same"],
    ["analysis.mood.calm", "same"],
    ["analysis.score", null],
    ["analysis.solved", null],
  ]);
  expect(judged(seen, "analysis.score")?.interval?.low).toBeCloseTo(2 - 1.972 * Math.sqrt(0.08), 3);
});

test("a field that changed its type, or that only one version has, is not compared", () => {
  const a = figures({ figure: "booleans", field: "solved", value: "true", n: 50 });
  const b = figures(
    { figure: "literals", field: "solved", value: "true", n: 50 },
    { figure: "numbers", field: "score", n: 50 },
  );
  expect(compareVersions(a, b).filter(({ figure }) => figure.startsWith("analysis."))).toEqual([]);
});

test("percentiles and the mean cost of a conversation are compared without an interval", () => {
  const timed = (ms: number, micros: number) =>
    figures(
      { figure: "conversations", n: 40 },
      { figure: "replies", n: 40 },
      { figure: "cost", n: 40, total: micros },
      { figure: "text_latency", value: "70", n: 40, total: 40 * ms },
    );
  const differences = compareVersions(timed(800, 40_000), timed(900, 60_000));
  const plain = { interval: null, verdict: null };
  expect(judged(differences, "text_latency.p95_ms")).toEqual({
    figure: "text_latency.p95_ms",
    difference: 100,
    ...plain,
  });
  expect(judged(differences, "cost_usd_micros")).toEqual({ figure: "cost_usd_micros", difference: 500, ...plain });
  expect(judged(differences, "call_latency.p50_ms")?.difference).toBeNull();
});

test("the 95th percentile of fewer than 20 replies is not compared, and the median is", () => {
  const measured = (n: number) => figures({ figure: "call_latency", value: "70", n, total: n * 800 });
  const differences = compareVersions(measured(40), measured(19));
  expect(judged(differences, "call_latency.p95_ms")?.difference).toBeNull();
  expect(judged(differences, "call_latency.p50_ms")?.difference).toBe(0);
});

test("the mean cost is not compared while the cost of a reply is unknown", () => {
  const known = figures(
    { figure: "conversations", n: 1 },
    { figure: "replies", n: 2 },
    { figure: "cost", n: 2, total: 9 },
  );
  const unknown = figures(
    { figure: "conversations", n: 1 },
    { figure: "replies", n: 2 },
    { figure: "cost", n: 1, total: 9 },
  );
  expect(judged(compareVersions(known, unknown), "cost_usd_micros")?.difference).toBeNull();
});

test("a field counts as the type that it had most often in its version", () => {
  const { analysis } = figures(
    { figure: "numbers", field: "score", n: 2, total: 6 },
    { figure: "booleans", field: "score", value: "true", n: 1 },
  );
  expect(analysis.get("score")).toEqual({ kind: "numbers", n: 2, mean: 3, variance: 0 });
});
