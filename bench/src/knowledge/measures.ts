/** The grades of the passages that answer a query, by their ids. */
export type Grades = ReadonlyMap<string, number>;

/** The normalised discounted cumulative gain of the first `depth` of a ranking, as BEIR counts it. */
export function ndcg(ranking: readonly string[], grades: Grades, depth: number): number {
  const gains = ranking.slice(0, depth).map((id) => grades.get(id) ?? 0);
  const best = [...grades.values()].sort((one, other) => other - one).slice(0, depth);
  return discounted(gains) / discounted(best);
}

function discounted(gains: readonly number[]): number {
  return gains.reduce((sum, gain, at) => sum + gain / Math.log2(at + 2), 0);
}

/** The part of the passages that answer a query that is among the first `depth` of a ranking. */
export function recall(ranking: readonly string[], grades: Grades, depth: number): number {
  const wanted = [...grades].filter(([, grade]) => grade > 0);
  const first = new Set(ranking.slice(0, depth));
  return wanted.filter(([id]) => first.has(id)).length / wanted.length;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** @param part from 0 to 1 */
export function percentile(values: readonly number[], part: number): number {
  return (
    values.toSorted((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * part))] ??
    Number.NaN
  );
}
