import type { components } from "../../../api/gen/schema.ts";

export type Figures = components["schemas"]["VersionFigures"];
export type Difference = components["schemas"]["VersionDifference"];

/** How a figure is measured, which says how it and differences of it are written. */
export type Unit = "count" | "share" | "seconds" | "ms" | "usd_micros" | "number";

/** A version's value of a figure that a comparison names; null if there is nothing to measure. */
export function figureOf(figures: Figures, figure: string): number | null {
  const [group = "", rest = ""] = splitOnce(figure);
  switch (group) {
    case "conversations":
      return figures.conversations;
    case "outcomes":
    case "call_outcomes":
      return shareIn(figures[group], rest);
    case "tool_failures":
      return figures.tool_failures.share;
    case "call_seconds":
      return figures.call_seconds.mean;
    case "text_latency":
    case "call_latency":
      return figures[group]?.[rest as "p50_ms" | "p95_ms"] ?? null;
    case "cost_usd_micros": {
      const { cost_usd_micros: cost, unpriced_replies: unpriced, conversations } = figures;
      return cost !== undefined && unpriced === 0 && conversations > 0 ? cost / conversations : null;
    }
    default: {
      const { of, word } = analysisOf(figures, rest);
      if (!of) return null;
      if ("share" in of) return of.share;
      return "mean" in of ? of.mean : shareIn(of, word);
    }
  }
}

export function unitOf(figures: Figures, figure: string): Unit {
  const [group = "", rest = ""] = splitOnce(figure);
  if (group === "conversations") return "count";
  if (group === "call_seconds") return "seconds";
  if (group.endsWith("latency")) return "ms";
  if (group === "cost_usd_micros") return "usd_micros";
  if (group !== "analysis") return "share";
  const { of } = analysisOf(figures, rest);
  return of && "mean" in of ? "number" : "share";
}

const VERDICTS = { better: "Better", worse: "Worse", same: "No clear difference", too_few: "Too few to tell" } as const;

/** What a difference means, in words; null where it has no interval. */
export function verdictOf({ verdict, low, high }: Difference): string | null {
  if (verdict !== undefined) return VERDICTS[verdict];
  if (low === null || high === null) return null;
  return low > 0 ? "Higher" : "Lower";
}

/** A sentence about all differences together. @param names of the two versions */
export function summaryOf(differences: readonly Difference[], names: { from: string; to: string }): string {
  const count = (verdict: Difference["verdict"]) =>
    differences.filter((difference) => difference.verdict === verdict).length;
  const [better, worse] = [count("better"), count("worse")];
  if (better + worse > 0)
    return `${names.to} is better than ${names.from} in ${figuresOf(better)} and worse in ${figuresOf(worse)}.`;
  const isTooFew = differences.some(({ verdict }) => verdict === "too_few") && count("same") === 0;
  return isTooFew
    ? "Too few conversations have ended to tell: each version needs 30."
    : `No figure shows that ${names.to} is better or worse than ${names.from}.`;
}

function figuresOf(count: number): string {
  return count === 0 ? "none" : count === 1 ? "1 figure" : `${count} figures`;
}

function shareIn({ n, shares }: { n: number; shares: Record<string, number> }, word: string): number | null {
  return n === 0 ? null : (shares[word] ?? 0);
}

/** A field of the analysis and, of a literal, the word: neither has a form that keeps dots out. */
export function analysisOf({ analysis }: Figures, path: string) {
  const name = Object.keys(analysis).find((field) => path === field || path.startsWith(`${field}.`)) ?? "";
  return { name, word: path.slice(name.length + 1), of: analysis[name] };
}

function splitOnce(figure: string): [string, string] {
  const at = figure.indexOf(".");
  return at < 0 ? [figure, ""] : [figure.slice(0, at), figure.slice(at + 1)];
}
