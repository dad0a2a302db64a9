/** A part of an index, and when its first and last conversations began. */
export interface Part {
  part: number;
  firstBegan: number;
  lastBegan: number;
}

/**
 * The parts that can contain one of the `wanted` newest matches.
 * @param countOf returns the number of matches in a part
 */
export function partsOfNewest(parts: readonly Part[], countOf: (part: number) => number, wanted: number): Part[] {
  const newestFirst = parts.filter(({ part }) => countOf(part) > 0).sort((a, b) => b.lastBegan - a.lastBegan);
  let held = 0;
  let oldest = Number.POSITIVE_INFINITY;
  return newestFirst.filter(({ part, firstBegan, lastBegan }) => {
    if (held >= wanted) return lastBegan >= oldest;
    held += countOf(part);
    oldest = Math.min(oldest, firstBegan);
    return true;
  });
}

export interface Began {
  /** Microseconds since 1970. */
  began: number;
}

/**
 * Selects the newest matches that can be in positions `start` to `end` (exclusive). Returns more when several began at
 * the same moment, because the caller decides their order.
 * @returns the matches, and how many of the others are newer
 */
export function slice<T extends Began>(all: readonly T[], start: number, end: number): { newer: number; held: T[] } {
  const ordered = all.toSorted((a, b) => b.began - a.began);
  const first = ordered[start];
  const last = ordered[Math.min(end, ordered.length) - 1];
  if (!first || !last) return { newer: 0, held: [] };
  const newer = ordered.findIndex(({ began }) => began === first.began);
  return { newer, held: ordered.slice(newer, ordered.findLastIndex(({ began }) => began === last.began) + 1) };
}
