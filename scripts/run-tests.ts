import { availableParallelism } from "node:os";
import { inBatches } from "./batches.ts";
import { readTally, sum, type Tally } from "./tally.ts";

/** Time limit of a test, in milliseconds; some boot whole services on a busy machine. */
const TIMEOUT_MS = 120_000;
/** Time limit of a batch, so that one that hangs does not hang the run. */
const BATCH_WITHIN_MS = 600_000;
/** Tests wait longer than they compute. The most is what the Postgres of the tests has connections for. */
const AT_A_TIME = Math.min(2 * availableParallelism() + 1, 6);

/** @param file of tests @returns the variables that it needs, once what they tell of runs */
export type EnvOf = (file: string) => Promise<Record<string, string>>;

/** Runs the files in batches, each in a separate process, a few at a time. Prints a batch's report when it ends. */
export async function runTests(files: readonly string[], envOf: EnvOf, signal: AbortSignal): Promise<Tally> {
  const tallies: Tally[] = [];
  const waiting = inBatches(files);
  const work = async () => {
    for (let batch = waiting.shift(); batch && !signal.aborted; batch = waiting.shift()) {
      tallies.push(await runBatch(batch, envOf, signal));
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return sum(tallies);
}

async function runBatch(batch: readonly string[], envOf: EnvOf, stopping: AbortSignal): Promise<Tally> {
  const env = Object.assign({}, ...(await Promise.all(batch.map(envOf))));
  const overdue = AbortSignal.timeout(BATCH_WITHIN_MS);
  const colour = process.stdout.isTTY ? { FORCE_COLOR: "1" } : {};
  const paths = batch.map((file) => `./${file}`);
  const child = Bun.spawn([process.execPath, "test", "--no-orphans", `--timeout=${TIMEOUT_MS}`, ...paths], {
    env: { ...process.env, ...colour, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    signal: AbortSignal.any([stopping, overdue]),
    killSignal: "SIGKILL",
  });
  const [printed, report] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const exitCode = await child.exited;
  process.stdout.write(`${printed}${report.trim()}\n\n`);
  if (overdue.aborted) console.log(`(fail) ${batch.join(", ")} did not end within ${BATCH_WITHIN_MS / 1000} s\n`);
  return readTally(report, exitCode);
}
