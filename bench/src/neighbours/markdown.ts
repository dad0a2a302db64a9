import {
  type AllFigures,
  type Attacked,
  isCounted,
  isDisturbed,
  isOver,
  LIMITED,
  type Limits,
  P99_MAX_MS,
  RATIO_MAX,
  ratioOf,
} from "./report.ts";
import { KIND_NAMES, type Kind } from "./victim.ts";

/** The quiet stretches before and after the attacks, which show how much the machine drifted. */
export interface QuietStretches {
  before: AllFigures;
  after: AllFigures;
}

/**
 * The results as bench/README.md shows them.
 * @param undisturbed of all quiet stretches together
 */
export function markdown(
  attacked: readonly Attacked[],
  undisturbed: AllFigures,
  { before, after }: QuietStretches,
  limits: Limits,
): string {
  const p99 = (of: AllFigures, kind: Kind) => of[kind].p99Ms.toFixed(0);
  const quiet = KIND_NAMES.map(
    (kind) =>
      `${kind} ${p99(undisturbed, kind)} ms of ${undisturbed[kind].count} (${p99(before, kind)} before, ${p99(after, kind)} after)`,
  );
  const fewest = KIND_NAMES.map((kind) => `${kind} ${Math.min(...attacked.map(({ figures }) => figures[kind].count))}`);
  const rows = attacked.map((seen) => [
    `\`${seen.attack.name}\``,
    beyond(seen, undisturbed),
    unanswered(seen),
    fullest(seen, limits),
  ]);
  const counted = attacked.filter(isCounted);
  const isMet = (seen: Attacked) => disturbed(seen, undisturbed).length === 0 && unanswered(seen) === "";
  const isWithin = (seen: Attacked) => !LIMITED.some((name) => isOver(seen, limits, name));
  return [
    `\nUndisturbed p99: ${quiet.join(", ")}.\n`,
    `Requests in each attack, at least: ${fewest.join(", ")}.\n`,
    ...lines([
      ["Attack", `p99 beyond ${RATIO_MAX} × and ${P99_MAX_MS} ms`, "Failed, late", "Fullest process, MiB"],
      ...rows,
    ]),
    "",
    `No process over its memory limit: ${verdict(counted.filter(isWithin).length, counted.length)}.`,
    `p99 within ${RATIO_MAX} × or ${P99_MAX_MS} ms: ${verdict(counted.filter(isMet).length, counted.length)}.`,
  ].join("\n");
}

function disturbed(seen: Attacked, undisturbed: AllFigures): Kind[] {
  return KIND_NAMES.filter((kind) => isDisturbed(seen.figures[kind], undisturbed[kind]));
}

/** "none" with the largest ratio, or the kinds beyond the goal with theirs. */
function beyond(seen: Attacked, undisturbed: AllFigures): string {
  const ratio = (kind: Kind) => ratioOf(seen.figures[kind], undisturbed[kind]);
  const kinds = disturbed(seen, undisturbed);
  if (kinds.length > 0) return kinds.map((kind) => `${kind} ${ratio(kind).toFixed(1)}`).join(", ");
  const most = KIND_NAMES.toSorted((a, b) => ratio(b) - ratio(a))[0] ?? "agent";
  return `none (${most} ${ratio(most).toFixed(1)})`;
}

function unanswered({ figures, inTheEnd }: Attacked): string {
  const sum = (of: (kind: Kind) => number) => KIND_NAMES.reduce((total, kind) => total + of(kind), 0);
  const failed = sum((kind) => inTheEnd[kind].failed);
  const late = sum((kind) => figures[kind].open);
  return [failed > 0 && `${failed} failed`, late > 0 && `${late} late`].filter(Boolean).join(", ");
}

function fullest({ peaks }: Attacked, limits: Limits): string {
  const part = (name: (typeof LIMITED)[number]) => (peaks[name] ?? 0) / limits[name];
  const name = LIMITED.toSorted((a, b) => part(b) - part(a))[0] ?? "gateway";
  return `${name} ${mebibytes(peaks[name] ?? 0)} of ${mebibytes(limits[name])}`;
}

function mebibytes(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(0);
}

function verdict(met: number, all: number): string {
  return met === all ? `**met** in all ${all} attacks` : `**met** in ${met}, missed in ${all - met}`;
}

/** A table with columns of even width, as the formatter writes it. */
function lines(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => [...(row[column] ?? "")].length)));
  const line = (row: readonly string[]) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const [head = [], ...body] = rows;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...body.map(line)];
}
