/** Of reciprocal rank fusion: how little the first ranks stand out. The value of its authors. */
const K = 60;

/** Fuses rankings of ids, the best first, into one: each rank counts by its reciprocal. */
export function fuse(rankings: readonly (readonly string[])[]): string[] {
  const sums = new Map<string, number>();
  for (const ranking of rankings) {
    for (const [at, id] of ranking.entries()) sums.set(id, (sums.get(id) ?? 0) + 1 / (K + at + 1));
  }
  return [...sums].sort(([, one], [, other]) => other - one).map(([id]) => id);
}
