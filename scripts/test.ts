/**
 * The test command: `bun run test [paths… | --changed[=ref]] [-t PATTERN]`. Without arguments it runs everything, including
 * the checks; with paths, the tests there; with `--changed`, the tests that import what differs from `ref`, by default the
 * last commit; with `-t`, of these the tests whose name matches. Starts the Postgres, the Redis and the stack that the tests share. What failed is repeated at the end. The
 * last line is `N passed, N failed`.
 */
import { onStop } from "../dev/processes/stop-signals.ts";
import { changedFiles, importersOf } from "./affected.ts";
import { runChecks } from "./checks.ts";
import { tellFailures } from "./failures.ts";
import { runTests } from "./running/run-tests.ts";
import { startSurroundings } from "./surroundings.ts";
import { type Outcome, sum } from "./tally.ts";
import { findTestFiles } from "./test-files.ts";
import { readTestOptions, type TestOptions } from "./test-options.ts";

const NONE: Outcome = { passed: 0, failed: 0, failures: [] };
const INTERRUPTED = 130;
const WRONG_USE = 2;
const COMMAND = "the test command";

const { paths, changedSince, name } = wantedTests();
const stopping = new AbortController();
onStop(() => stopping.abort());

const isWhole = paths.length === 0 && changedSince === undefined && name === undefined;
const checking = isWhole ? runChecks(stopping.signal) : NONE;
const outcomes = await Promise.all([checking, test()]);
if (stopping.signal.aborted) process.exit(INTERRUPTED);
const { passed, failed, failures } = sum(outcomes);
if (failures.length > 0) console.log(tellFailures(failures));
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

async function test(): Promise<Outcome> {
  const files = await findWanted();
  if (files.length === 0) return failure(COMMAND, `There is no test file for ${process.argv.slice(2).join(" ")}`);
  let outcome = NONE;
  try {
    const surroundings = await startSurroundings(files);
    try {
      if (!stopping.signal.aborted) outcome = await runTests(files, name, surroundings, stopping.signal);
    } finally {
      await surroundings.stop();
    }
    const isNone = outcome.passed + outcome.failed === 0 && !stopping.signal.aborted;
    return isNone ? failure(COMMAND, `There is no test whose name matches ${name}`) : outcome;
  } catch (error) {
    return sum([outcome, failure("what the tests share", error instanceof Error ? error.message : String(error))]);
  }
}

function failure(name: string, report: string): Outcome {
  return { passed: 0, failed: 1, failures: [{ name, report }] };
}

async function findWanted(): Promise<string[]> {
  if (changedSince === undefined) return findTestFiles(paths);
  return importersOf(await changedFiles(changedSince), await findTestFiles([]));
}

function wantedTests(): TestOptions {
  try {
    return readTestOptions(process.argv.slice(2));
  } catch (error) {
    console.error((error as Error).message);
    process.exit(WRONG_USE);
  }
}
