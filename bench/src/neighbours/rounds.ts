import type { Attack, TierName } from "./attack.ts";
import { type Figures, figuresOf, type Phase } from "./phase.ts";
import type { AllFigures, Attacked, Seen } from "./report.ts";
import { KIND_NAMES, type Kind } from "./victim.ts";

/** One run of an attack. */
export interface Round {
  attack: Attack;
  tier: TierName;
  seen: Seen;
  /** The victim's requests. */
  phase: Phase;
  /** The outcomes of the hostile owner's requests. */
  tally: Readonly<Record<string, number>>;
  /** Milliseconds until the victim was served as before; null if that took too long. */
  recoveredMs: number | null;
  /** The check that found the victim served as before. */
  recovered: Phase | null;
}

export function allFigures(phases: readonly Phase[]): AllFigures {
  return Object.fromEntries(KIND_NAMES.map((kind) => [kind, figuresOf(phases, kind)])) as Record<Kind, Figures>;
}

/**
 * The result of all rounds of an attack: the p99 is that of all their requests, so a slow second of the machine in one round does not
 * decide it, and a peak is the highest.
 */
export function resultOf(rounds: readonly Round[]): Attacked {
  const [first] = rounds;
  if (!first) throw new Error("An attack that did not take place has no result");
  const phases = rounds.map(({ phase }) => phase);
  const inTheEnd = allFigures(phases);
  const recovered = rounds.map(({ recoveredMs }) => recoveredMs);
  return {
    attack: first.attack,
    tier: first.tier,
    tally: summed(rounds.map(({ tally }) => tally)),
    recoveredMs: recovered.includes(null) ? null : Math.max(...recovered.map(Number)),
    inTheEnd,
    figures: withLate(inTheEnd, rounds),
    peaks: highest(rounds.map(({ seen }) => seen.peaks)),
    replaced: rounds.reduce((sum, { seen }) => sum + seen.replaced, 0),
  };
}

/** Requests that had not ended soon after their attack are late, even when they have ended since. */
function withLate(figures: AllFigures, rounds: readonly Round[]): AllFigures {
  const late = (kind: Kind) => rounds.reduce((sum, { seen }) => sum + seen.figures[kind].open, 0);
  return Object.fromEntries(KIND_NAMES.map((kind) => [kind, { ...figures[kind], open: late(kind) }])) as Record<
    Kind,
    Figures
  >;
}

function summed(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  return combined(all, (sum, value) => sum + value, 0);
}

function highest(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  return combined(all, Math.max, 0);
}

function combined(
  all: readonly Readonly<Record<string, number>>[],
  combine: (before: number, value: number) => number,
  start: number,
): Record<string, number> {
  const result: Record<string, number> = {};
  for (const [name, value] of all.flatMap(Object.entries<number>)) result[name] = combine(result[name] ?? start, value);
  return result;
}
