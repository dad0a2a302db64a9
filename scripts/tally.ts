export interface Tally {
  passed: number;
  failed: number;
}

export function sum(tallies: readonly Tally[]): Tally {
  return tallies.reduce((all, one) => ({ passed: all.passed + one.passed, failed: all.failed + one.failed }), {
    passed: 0,
    failed: 0,
  });
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

function lastFigure(lines: readonly string[], word: "pass" | "fail"): number {
  const pattern = new RegExp(`^\\s*(\\d+) ${word}$`);
  const line = lines.findLast((text) => pattern.test(text));
  return Number(line?.match(pattern)?.[1] ?? 0);
}
