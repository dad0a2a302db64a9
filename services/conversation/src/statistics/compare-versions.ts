import { P95_REPLIES_MIN } from "@parley/shared/domain/present/statistics";
import { differenceOfMeans, differenceOfShares, type Interval } from "./intervals.ts";
import type { Latency, Mean, Spread, VersionFigures } from "./version-figures.ts";

/** Fewer conversations of a version tell nothing. */
const CONVERSATIONS_MIN = 30;

type Verdict = "better" | "worse" | "same" | "too_few";

/** Of two versions, b - a. */
export interface Difference {
  /** Its path in the figures, such as outcomes.COMPLETED. */
  figure: string;
  /** Null: one of the versions has nothing to measure. */
  difference: number | null;
  /** With a confidence of 95 %; null for too few, and for percentiles and costs, which have none. */
  interval: Interval | null;
  /** Null where there is no interval, and where it excludes 0 but nobody knows whether more is better. */
  verdict: Verdict | null;
}

type Wish = "more" | "less";

/** What everybody wants more or less of. Of the fields of an analysis, only its owner knows. */
const WISHES: Readonly<Record<string, Wish>> = {
  "outcomes.COMPLETED": "more",
  "outcomes.FAILED": "less",
  "call_outcomes.SUCCESS": "more",
  "call_outcomes.HUNG_UP_EARLY": "less",
  "call_outcomes.ERROR": "less",
  tool_failures: "less",
};

/** How the figures of version b differ from those of version a. Fields of the analysis that only one of them has are left out. */
export function compareVersions(a: VersionFigures, b: VersionFigures): Difference[] {
  return [
    ...spreads("outcomes", a.outcomes, b.outcomes),
    ...spreads("call_outcomes", a.callOutcomes, b.callOutcomes),
    shares("tool_failures", { part: a.toolFailures, n: a.outcomes.n }, { part: b.toolFailures, n: b.outcomes.n }),
    ...fields(a, b),
    means("call_seconds", a.callSeconds, b.callSeconds),
    ...latencies("text_latency", a.textLatency, b.textLatency),
    ...latencies("call_latency", a.callLatency, b.callLatency),
    plain("cost_usd_micros", meanCost(a), meanCost(b)),
  ];
}

function fields(a: VersionFigures, b: VersionFigures): Difference[] {
  return [...a.analysis].flatMap(([name, ofA]) => {
    const ofB = b.analysis.get(name);
    const figure = `analysis.${name}`;
    if (ofA.kind === "numbers") return ofB?.kind === "numbers" ? [means(figure, ofA, ofB)] : [];
    if (ofB?.kind !== ofA.kind) return [];
    if (ofA.kind === "literals") return spreads(figure, ofA, ofB);
    return [shares(figure, shareOf(ofA, "true"), shareOf(ofB, "true"))];
  });
}

function spreads(figure: string, a: Spread, b: Spread): Difference[] {
  const values = new Set([...a.counts.keys(), ...b.counts.keys()]);
  return [...values].sort().map((value) => shares(`${figure}.${value}`, shareOf(a, value), shareOf(b, value)));
}

interface Share {
  part: number;
  n: number;
}

function shareOf({ n, counts }: Spread, value: string): Share {
  return { part: counts.get(value) ?? 0, n };
}

function shares(figure: string, a: Share, b: Share): Difference {
  return judged(figure, a.n, b.n, b.part / b.n - a.part / a.n, () => differenceOfShares(a, b));
}

function means(figure: string, a: Mean, b: Mean): Difference {
  return judged(figure, a.n, b.n, b.mean - a.mean, () => differenceOfMeans(a, b));
}

function judged(figure: string, ofA: number, ofB: number, difference: number, intervalOf: () => Interval): Difference {
  if (Math.min(ofA, ofB) === 0) return { figure, difference: null, interval: null, verdict: "too_few" };
  if (Math.min(ofA, ofB) < CONVERSATIONS_MIN) return { figure, difference, interval: null, verdict: "too_few" };
  const interval = intervalOf();
  return { figure, difference, interval, verdict: verdictOf(figure, interval) };
}

function verdictOf(figure: string, { low, high }: Interval): Verdict | null {
  if (low <= 0 && high >= 0) return "same";
  const wish = WISHES[figure];
  if (wish === undefined) return null;
  return low > 0 === (wish === "more") ? "better" : "worse";
}

function latencies(figure: string, a: Latency | null, b: Latency | null): Difference[] {
  const p95Of = (latency: Latency | null) => (latency && latency.replies >= P95_REPLIES_MIN ? latency.p95Ms : null);
  return [plain(`${figure}.p50_ms`, a?.p50Ms ?? null, b?.p50Ms ?? null), plain(`${figure}.p95_ms`, p95Of(a), p95Of(b))];
}

/** Of a conversation; null while the cost of a reply is unknown. */
function meanCost({ conversations, costUsdMicros, replies, pricedReplies }: VersionFigures): number | null {
  return conversations > 0 && pricedReplies >= replies ? costUsdMicros / conversations : null;
}

function plain(figure: string, a: number | null, b: number | null): Difference {
  return { figure, difference: a === null || b === null ? null : b - a, interval: null, verdict: null };
}
