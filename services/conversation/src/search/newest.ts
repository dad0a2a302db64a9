/** A part of an index and when the first and the last of its conversations began. */
export interface Part {
  part: number;
  firstBegan: number;
  lastBegan: number;
}

/**
 * The parts that can hold one of the `wanted` newest that match.
 * @param countOf how many of a part match
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
 * Of all that match, those of the newest first that can be from `start` to before `end`: more, where several began at the same
 * moment, whose order is for others to tell.
 * @returns with them, how many of the others are newer
 */
export function slice<T extends Began>(all: readonly T[], start: number, end: number): { newer: number; held: T[] } {
  const ordered = all.toSorted((a, b) => b.began - a.began);
  const first = ordered[start];
  const last = ordered[Math.min(end, ordered.length) - 1];
  if (!first || !last) return { newer: 0, held: [] };
  const newer = ordered.findIndex(({ began }) => began === first.began);
  return { newer, held: ordered.slice(newer, ordered.findLastIndex(({ began }) => began === last.began) + 1) };
}
