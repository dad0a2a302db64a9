import { faultsOf, type Result, type Run } from "./run-shape.ts";

/** The run as JUnit's XML, which continuous integration reads. */
export function junitOf(run: Run): string {
  const failures = run.results.filter((result) => result.passed !== true && !isError(result)).length;
  const errors = run.results.filter((result) => result.passed !== true && isError(result)).length;
  const counts = `tests="${run.results.length}" failures="${failures}" errors="${errors}" time="${seconds(run.created_at, run.ended_at)}"`;
  const name = escaped(`${run.agent_id} version ${run.agent_version}`);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${name}" timestamp="${escaped(run.created_at)}" ${counts}>`,
    ...run.results.map((result) => testCase(run, result)),
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function testCase(run: Run, result: Result): string {
  const times = result.attempts.map(({ started_at, ended_at }) => seconds(started_at, ended_at));
  const opening = `    <testcase classname="${escaped(run.agent_id)}" name="${escaped(result.name)}" time="${times.reduce((sum, each) => sum + each, 0)}"`;
  if (result.passed === true) return `${opening}/>`;
  const faults = faultsOf(result);
  const kind = isError(result) ? "error" : "failure";
  const message = faults[0] ?? run.error ?? "The test has not passed";
  return [
    `${opening}>`,
    `      <${kind} message="${escaped(message)}">${escaped(faults.join("\n"))}</${kind}>`,
    "    </testcase>",
  ].join("\n");
}

/** A conversation could not be held, so nobody knows. */
function isError({ attempts }: Result): boolean {
  return attempts.some(({ status }) => status === "ERROR" || status === "CANCELLED");
}

function seconds(from: string | null, to: string | null): number {
  return from === null || to === null ? 0 : (Date.parse(to) - Date.parse(from)) / 1_000;
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** XML has no way to write most control characters. */
function escaped(text: string): string {
  return text
    .replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? "")
    .replaceAll(/[^\P{Cc}\n\t]|[\uFFFE\uFFFF]|\p{Cs}/gu, "\uFFFD")
    .replaceAll("\n", "&#10;");
}
