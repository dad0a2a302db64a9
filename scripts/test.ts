/**
 * The test command: `bun run test [paths…]`. Without paths everything, checks included; with paths the tests there.
 * Brings the Postgres and the Redis the tests need. The last line is `N passed, N failed`.
 */
import { onStop } from "../deploy/src/stack/stop-signals.ts";
import { runChecks } from "./checks.ts";
import { runTests } from "./run-tests.ts";
import { sum, type Tally } from "./tally.ts";
import { findTestFiles } from "./test-files.ts";
import { startTestbed } from "./testbed.ts";

const NONE: Tally = { passed: 0, failed: 0 };
const INTERRUPTED = 130;

const paths = process.argv.slice(2);
const stopping = new AbortController();
onStop(() => stopping.abort());

const checked = paths.length === 0 ? await runChecks(stopping.signal) : NONE;
const tested = stopping.signal.aborted ? NONE : await test();
if (stopping.signal.aborted) process.exit(INTERRUPTED);
const { passed, failed } = sum([checked, tested]);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

async function test(): Promise<Tally> {
  const files = await findTestFiles(paths);
  if (files.length === 0) {
    console.error(`There is no test file in ${paths.join(", ")}`);
    return { passed: 0, failed: 1 };
  }
  try {
    const testbed = await startTestbed();
    try {
      return stopping.signal.aborted ? NONE : await runTests(files, testbed.env, stopping.signal);
    } finally {
      await testbed.stop();
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return { passed: 0, failed: 1 };
  }
}
