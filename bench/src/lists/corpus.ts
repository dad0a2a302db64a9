/** The texts of the seeded conversations, generated from a seed so that every run searches the same ones. */

export interface Random {
  /** At least 0, less than 1. */
  next(): number;
  below(limit: number): number;
  pick<T>(items: readonly T[]): T;
}

/** Mulberry32, which is small, fast and the same everywhere. */
export function randomOf(seed: number): Random {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return { next, below, pick: (items) => items[below(items.length)] as never };
}

const SYLLABLES =
  "ba be bi bo da de di do ka ke ki ko la le li lo ma me mi mo na ne ni no ra re ri ro sa se si so ta te ti to".split(
    " ",
  );
const VOCABULARY = 12_000;
const TEXTS = 40_000;

/** A pool of sentences whose word frequencies follow Zipf's law, as in a natural language. */
export function sentencePool(random: Random): string[] {
  const words = Array.from({ length: VOCABULARY }, () =>
    Array.from({ length: 1 + random.below(4) }, () => random.pick(SYLLABLES)).join(""),
  );
  const zipf = () => words[Math.floor(VOCABULARY ** random.next()) - 1] ?? "ba";
  return Array.from({ length: TEXTS }, () => {
    const said = Array.from({ length: 6 + random.below(14) }, zipf).join(" ");
    return `${said.charAt(0).toUpperCase()}${said.slice(1)}${random.pick([".", "?", "!"])}`;
  });
}

/** Words that are not made of syllables, each with the percentage of conversations that contain it. */
export const MARKED = { quartz: 60, sphinx: 1, zephyr: 0.01 } as const;
export const ABSENT = "xylograph";
