/**
 * The test command: `bun run test [paths… | --changed[=ref]]`. Without arguments it runs everything, including the
 * checks; with paths, the tests there; with `--changed`, the tests that import what differs from `ref`, by default the
 * last commit. Starts the Postgres, the Redis and the stack that the tests share. The last line is `N passed, N failed`.
 */
import { onStop } from "../dev/processes/stop-signals.ts";
import { changedFiles, importersOf } from "./affected.ts";
import { runChecks } from "./checks.ts";
import { runTests } from "./run-tests.ts";
import { startSurroundings } from "./surroundings.ts";
import { sum, type Tally } from "./tally.ts";
import { findTestFiles } from "./test-files.ts";

const NONE: Tally = { passed: 0, failed: 0 };
const INTERRUPTED = 130;

const wanted = process.argv.slice(2);
const stopping = new AbortController();
onStop(() => stopping.abort());

const checking = wanted.length === 0 ? runChecks(stopping.signal) : NONE;
const tallies = await Promise.all([checking, test()]);
if (stopping.signal.aborted) process.exit(INTERRUPTED);
const { passed, failed } = sum(tallies);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

async function test(): Promise<Tally> {
  const files = await findWanted();
  if (files.length === 0) {
    console.error(`There is no test file for ${wanted.join(", ")}`);
    return { passed: 0, failed: 1 };
  }
  let tally = NONE;
  try {
    const surroundings = await startSurroundings(files);
    try {
      if (!stopping.signal.aborted) tally = await runTests(files, surroundings.envOf, stopping.signal);
    } finally {
      await surroundings.stop();
    }
    return tally;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return sum([tally, { passed: 0, failed: 1 }]);
  }
}

async function findWanted(): Promise<string[]> {
  const changed = wanted[0]?.match(/^--changed(?:=(.+))?$/);
  if (!changed) return findTestFiles(wanted);
  return importersOf(await changedFiles(changed[1] ?? "HEAD"), await findTestFiles([]));
}
