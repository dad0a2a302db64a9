import type { CountedFigure, CountedRow } from "../store/figures/version-figures.ts";

/** How often each value occurred among n. */
export interface Spread {
  n: number;
  counts: ReadonlyMap<string, number>;
}

export interface Mean {
  n: number;
  mean: number;
  /** With n - 1 in the denominator. */
  variance: number;
}

/** Milliseconds, accurate to 5 %. */
export interface Latency {
  replies: number;
  p50Ms: number;
  p95Ms: number;
}

/** A field of the analysis: booleans are true or not, a literal is one of some words, numbers have a mean. */
export type FieldFigure = ({ kind: "booleans" | "literals" } & Spread) | ({ kind: "numbers" } & Mean);

/** The figures of a version's conversations. */
export interface VersionFigures {
  conversations: number;
  /** Of those that have ended, by status, and of calls by outcome. */
  outcomes: Spread;
  callOutcomes: Spread;
  /** Ended conversations in which a tool failed. */
  toolFailures: number;
  callSeconds: Mean;
  /** Null: no reply was measured. */
  textLatency: Latency | null;
  callLatency: Latency | null;
  replies: number;
  /** Of the replies whose cost is known, in millionths of a US dollar. */
  costUsdMicros: number;
  pricedReplies: number;
  analysis: Map<string, FieldFigure>;
}

/** @param rows of one version */
export function versionFigures(rows: readonly CountedRow[]): VersionFigures {
  const by = Map.groupBy(rows, ({ figure }) => figure);
  const of = (figure: CountedFigure) => by.get(figure) ?? [];
  const single = (figure: CountedFigure) => of(figure)[0];
  return {
    conversations: single("conversations")?.n ?? 0,
    outcomes: spreadOf(of("outcomes")),
    callOutcomes: spreadOf(of("call_outcomes")),
    toolFailures: single("tool_failures")?.n ?? 0,
    callSeconds: meanOf(single("call_seconds")),
    textLatency: latencyOf(of("text_latency")),
    callLatency: latencyOf(of("call_latency")),
    replies: single("replies")?.n ?? 0,
    costUsdMicros: single("cost")?.total ?? 0,
    pricedReplies: single("cost")?.n ?? 0,
    analysis: analysisOf([...of("booleans"), ...of("literals"), ...of("numbers")]),
  };
}

function spreadOf(rows: readonly CountedRow[]): Spread {
  const counts = new Map(rows.map(({ value, n }) => [value, n]));
  return { n: rows.reduce((sum, { n }) => sum + n, 0), counts };
}

function meanOf(row: CountedRow | undefined): Mean {
  return row ? { n: row.n, mean: row.mean, variance: row.variance } : { n: 0, mean: 0, variance: 0 };
}

/** A field whose type was changed by a draft of the version's analysis counts as what it was most often. */
function analysisOf(rows: readonly CountedRow[]): Map<string, FieldFigure> {
  const fields = new Map<string, FieldFigure>();
  for (const [field, ofField] of Map.groupBy(rows, (row) => row.field)) {
    const kinds = [...Map.groupBy(ofField, ({ figure }) => figure)].map(([kind, counted]): FieldFigure => {
      if (kind === "numbers") return { kind, ...meanOf(counted[0]) };
      return { kind: kind === "booleans" ? kind : "literals", ...spreadOf(counted) };
    });
    const [most] = kinds.sort((one, other) => other.n - one.n);
    if (most) fields.set(field, most);
  }
  return new Map([...fields].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function latencyOf(rows: readonly CountedRow[]): Latency | null {
  const buckets = rows.toSorted((one, other) => Number(one.value) - Number(other.value));
  const replies = buckets.reduce((sum, { n }) => sum + n, 0);
  if (replies === 0) return null;
  const middle = (ofRank(buckets, 0.5 * replies) + ofRank(buckets, 0.5 * replies + 0.5)) / 2;
  return { replies, p50Ms: Math.round(middle), p95Ms: Math.round(ofRank(buckets, 0.95 * replies)) };
}

/** The mean of the bucket in which the reply of a rank lies. */
function ofRank(buckets: readonly CountedRow[], rank: number): number {
  let upTo = 0;
  for (const { n, total } of buckets) {
    upTo += n;
    if (upTo >= rank) return total / n;
  }
  return 0;
}
