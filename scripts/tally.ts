import type { Failure } from "./failures.ts";

export interface Tally {
  passed: number;
  failed: number;
}

/** A tally with what failed. */
export interface Outcome extends Tally {
  failures: readonly Failure[];
}

export function sum(outcomes: readonly Outcome[]): Outcome {
  const total = (figure: (tally: Tally) => number) => outcomes.reduce((all, one) => all + figure(one), 0);
  return {
    passed: total(({ passed }) => passed),
    failed: total(({ failed }) => failed),
    failures: outcomes.flatMap(({ failures }) => failures),
  };
}

/**
 * Reads the summary of `bun test`. A failing exit code without a failed test counts as a failure, and so does a run
 * without tests.
 */
export function readTally(output: string, exitCode: number): Tally {
  const lines = Bun.stripANSI(output).split("\n");
  const passed = lastFigure(lines, "pass");
  const failed = lastFigure(lines, "fail");
  const untold = failed === 0 && (exitCode !== 0 || passed === 0);
  return { passed, failed: untold ? 1 : failed };
}

/** Whether `bun test` has run nothing because no test's name matches the pattern that it was given. */
export function hasNoMatch(output: string): boolean {
  return /^error: regex ".*" matched 0 tests\./m.test(Bun.stripANSI(output));
}

function lastFigure(lines: readonly string[], word: "pass" | "fail"): number {
  const pattern = new RegExp(`^\\s*(\\d+) ${word}$`);
  const line = lines.findLast((text) => pattern.test(text));
  return Number(line?.match(pattern)?.[1] ?? 0);
}
