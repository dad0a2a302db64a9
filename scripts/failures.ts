/** A check or a batch of test files that failed. */
export interface Failure {
  name: string;
  /** What it printed. */
  report: string;
}

/** How many characters are repeated of each file's report, if few failed, and of all reports together. */
const FILE_MAX = 8_000;
const ALL_MAX = 60_000;
const HEADING = /^\S+\.test\.ts:$/;
const FAILED = /^\(fail\) |^# Unhandled error/;
/** Above the list in which bun repeats the failed tests of all files, below the last file's heading. */
const REPEATED = /^\d+ tests? failed:$/;
const PASSED = /^\(pass\) /;
const ENDED = /^\((?:pass|fail|skip|todo)\) /;
/** The last line of a run. */
const RAN = /^Ran \d+ tests? across /;

/**
 * Repeats the reports of what failed, the end of long ones, then lists the failed tests by file: a reader who sees only the
 * end of the output learns what failed. Empty if nothing failed.
 */
export function tellFailures(failures: readonly Failure[]): string {
  const parts = failures.flatMap(failedParts);
  if (parts.length === 0) return "";
  const most = Math.min(FILE_MAX, Math.floor(ALL_MAX / parts.length));
  const reports = parts.map(({ name, lines }) => `--- ${name}\n${endOf(lines.join("\n").trim(), most)}\n`);
  const list = parts.map(({ name, lines }) =>
    [name, ...lines.filter((line) => FAILED.test(line)).map((line) => `  ${line}`)].join("\n"),
  );
  return `${reports.join("\n")}\n--- Failed:\n${list.join("\n")}\n`;
}

interface Part {
  name: string;
  lines: string[];
}

/** The files of a batch in which something failed, without the tests that passed; the whole report if none is to blame. */
function failedParts({ name, report }: Failure): Part[] {
  const whole: Part = { name, lines: [] };
  const parts: Part[] = [];
  const printed = Bun.stripANSI(report).split("\n");
  const repeatedAt = printed.findLastIndex((line) => REPEATED.test(line));
  for (const line of repeatedAt < 0 ? printed : printed.slice(0, repeatedAt)) {
    if (HEADING.test(line)) parts.push({ name: line.slice(0, -1), lines: [] });
    else if (!PASSED.test(line)) (parts.at(-1) ?? whole).lines.push(line);
  }
  const failed = parts.filter(({ lines }) => lines.some((line) => FAILED.test(line)));
  if (failed.length > 0) return failed;
  return [{ name, lines: [whole, ...parts].flatMap(({ lines }) => lines) }];
}

/**
 * Names the file that ran, and the test that ended last, when the process of a batch ended before its tests or hung.
 * @param report what `bun test` printed to its standard error
 * @param how the process ended, such as "ended by SIGSEGV"
 * @returns a line, or nothing if all tests have run and the process did not hang
 */
export function tellCutOff(report: string, files: readonly string[], how: string, hung: boolean): string {
  const lines = Bun.stripANSI(report).split("\n");
  if (lines.some((line) => RAN.test(line))) return hung ? `(fail) ${files.join(", ")} ${how} after all tests\n` : "";
  const begunAt = lines.findLastIndex((line) => HEADING.test(line));
  const file = lines[begunAt]?.slice(0, -1) ?? files.join(", ");
  const last = lines.slice(begunAt + 1).findLast((line) => ENDED.test(line));
  return `(fail) ${file} ${how} ${last ? `after ${last}` : "before its first test was over"}\n`;
}

function endOf(text: string, most: number): string {
  return text.length <= most ? text : `…${text.slice(-most)}`;
}
