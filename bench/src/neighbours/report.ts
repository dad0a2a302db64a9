import { table } from "../figures.ts";
import type { Attack, TierName } from "./attack.ts";
import type { Figures } from "./phase.ts";
import { KIND_NAMES, type Kind } from "./victim.ts";

/** The processes whose memory Kubernetes limits. */
export const LIMITED = [
  "gateway",
  "account",
  "agent",
  "prompt",
  "conversation",
  "webhook-dispatcher",
  "voice",
  "messaging",
  "knowledge",
] as const;
export type LimitedName = (typeof LIMITED)[number];

/** Goal: the victim's p99 under attack, as a multiple of its p99 without one, or in milliseconds, whichever is more. */
export const RATIO_MAX = 10;
export const P99_MAX_MS = 250;

export type AllFigures = Readonly<Record<Kind, Figures>>;

/** The observations of one period. */
export interface Seen {
  figures: AllFigures;
  /** Bytes. */
  peaks: Readonly<Record<string, number>>;
  /** Number of processes that ended and were restarted. */
  replaced: number;
}

export interface Attacked extends Seen {
  attack: Attack;
  tier: TierName;
  /** The outcomes of the hostile owner's requests. */
  tally: Readonly<Record<string, number>>;
  /** Milliseconds until the victim was served as before; null if that took too long. */
  recoveredMs: number | null;
  /** Like `figures`, after everything has had time to arrive. */
  inTheEnd: AllFigures;
}

export type Limits = Readonly<Record<LimitedName, number>>;

/** @param when of the quiet stretch */
export function undisturbedText(when: string, undisturbed: Seen, limits: Limits): string {
  const rows = KIND_NAMES.map((kind) => {
    const { count, p50Ms, p99Ms } = undisturbed.figures[kind];
    return [kind, String(count), `${p50Ms.toFixed(1)} ms`, `${p99Ms.toFixed(1)} ms`];
  });
  return `\nThe victim undisturbed, ${when}\n${table([["", "count", "p50", "p99"], ...rows])}\n  ${memoryText(undisturbed, limits)}`;
}

export function attackText(
  { attack, tier, tally, recoveredMs, ...seen }: Attacked,
  undisturbed: AllFigures,
  limits: Limits,
): string {
  const rows = KIND_NAMES.map((kind) => {
    const { count, p50Ms, p99Ms, failed, open, failure, slowestAtMs } = seen.figures[kind];
    const ratio = ratioOf(seen.figures[kind], undisturbed[kind]);
    const marks = [
      isSlow(seen.figures[kind], undisturbed[kind]) &&
        `slowest at ${slowestAtMs.map((ms) => (ms / 1_000).toFixed(1)).join(", ")} s`,
      failed > 0 && `${failed} failed: ${failure}`,
      open > 0 && `${open} late`,
    ]
      .filter(Boolean)
      .join(", ");
    const p99 = `${p99Ms.toFixed(1)} ms`;
    return [kind, String(count), `${p50Ms.toFixed(1)} ms`, p99, `× ${ratio.toFixed(1)}`, marks];
  });
  const answers = Object.entries(tally).map(([answer, times]) => `${times} × ${answer}`);
  const recovered =
    recoveredMs === null ? "not served as before in time" : `served as before after ${seconds(recoveredMs)}`;
  return [
    `\n${attack.name}: ${attack.what} (${tier} key; ${answers.join(", ") || "nothing answered"})`,
    table([["", "count", "p50", "p99", "", ""], ...rows]),
    `  ${memoryText(seen, limits)}${seen.replaced > 0 ? `; ${seen.replaced} processes ended` : ""}; ${recovered}`,
  ].join("\n");
}

/**
 * For each attack, the p99 as a multiple of the undisturbed one; then the two goals.
 * @param untried attacks that did not take place, so that no goal is shown to be met
 */
export function summaryText(
  attacked: readonly Attacked[],
  untried: readonly string[],
  undisturbed: AllFigures,
  limits: Limits,
): string {
  const times = attacked.map((seen) => [
    seen.attack.name,
    ...KIND_NAMES.map((kind) => cellOf(seen, undisturbed, kind)),
  ]);
  const memory = attacked.map((seen) => [
    seen.attack.name,
    ...LIMITED.map((name) => `${mebibytes(seen.peaks[name] ?? 0)}${isOver(seen, limits, name) ? " !" : ""}`),
  ]);
  const isHit = (seen: Attacked) =>
    KIND_NAMES.some((kind) => isDisturbed(seen.figures[kind], undisturbed[kind]) || seen.inTheEnd[kind].failed > 0);
  const counted = attacked.filter(isCounted);
  const slow = counted.filter(isHit);
  const over = counted.filter((seen) => LIMITED.some((name) => isOver(seen, limits, name)));
  return [
    "\nThe victim's p99, times its undisturbed one (f: failed, l: late, n: never; !: beyond the goal)",
    table([["", ...KIND_NAMES], ...times]),
    "\nPeak memory, MiB",
    table([["", ...LIMITED], ["limit", ...LIMITED.map((name) => mebibytes(limits[name]))], ...memory]),
    "",
    goal(`p99 within ${RATIO_MAX} × undisturbed or ${P99_MAX_MS} ms, nothing failed or late`, slow, untried),
    goal("no process over its Kubernetes memory limit", over, untried),
  ].join("\n");
}

/** Whether it counts towards the goals. */
export function isCounted({ attack }: Attacked): boolean {
  return !attack.isControl;
}

function goal(what: string, missed: readonly Attacked[], untried: readonly string[]): string {
  const verdict = missed.length === 0 ? "met" : `missed under ${missed.map(({ attack }) => attack.name).join(", ")}`;
  if (untried.length === 0) return `Goal "${what}": ${verdict}`;
  return `Goal "${what}": ${missed.length === 0 ? "not shown" : verdict}; not tried: ${untried.join(", ")}`;
}

function cellOf(seen: Attacked, undisturbed: AllFigures, kind: Kind): string {
  const never = seen.inTheEnd[kind].open;
  const { failed } = seen.inTheEnd[kind];
  const late = seen.figures[kind].open - never;
  const marks = [failed > 0 && `${failed}f`, late > 0 && `${late}l`, never > 0 && `${never}n`].filter(Boolean);
  const isBad = isDisturbed(seen.figures[kind], undisturbed[kind]) || failed > 0;
  return [ratioOf(seen.figures[kind], undisturbed[kind]).toFixed(1), ...marks, ...(isBad ? ["!"] : [])].join(" ");
}

export function isDisturbed(figures: Figures, undisturbed: Figures): boolean {
  return figures.failed > 0 || figures.open > 0 || isSlow(figures, undisturbed);
}

function isSlow(figures: Figures, undisturbed: Figures): boolean {
  return figures.p99Ms > Math.max(P99_MAX_MS, RATIO_MAX * undisturbed.p99Ms);
}

export function ratioOf(figures: Figures, undisturbed: Figures): number {
  return figures.p99Ms / undisturbed.p99Ms;
}

export function isOver({ peaks }: Seen, limits: Limits, name: LimitedName): boolean {
  return (peaks[name] ?? 0) > limits[name];
}

function memoryText({ peaks }: Seen, limits: Limits): string {
  const each = LIMITED.map((name) => `${name} ${mebibytes(peaks[name] ?? 0)} of ${mebibytes(limits[name])}`);
  return `peak memory, MiB: ${each.join(", ")}`;
}

function mebibytes(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(0);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(0)} s`;
}
