import { availableParallelism } from "node:os";
import { type Batch, inBatches } from "./batches.ts";
import { type Outcome, readTally, sum } from "./tally.ts";

/** Time limit of a test, in milliseconds; some boot whole services on a busy machine. */
const TIMEOUT_MS = 120_000;
/** Time limit of a file, or of all unit tests of a part, so that one that hangs does not hang the run. */
const FILE_WITHIN_MS = 600_000;
/** Tests wait longer than they compute. The most is what the Postgres of the tests has connections for. */
const AT_A_TIME = Math.min(2 * availableParallelism() + 1, 6);

/**
 * A file runs most of its code a few times only, and isolated files would each optimize it anew: that costs more than it
 * saves. The processes of stacks, which live longer, do not inherit this.
 */
const SHORT_LIVED = { BUN_JSC_useDFGJIT: "0" };

export interface Surroundings {
  /** Whether what the test file needs is ready; other files may start first. */
  isReady(file: string): boolean;
  /** @returns the variables that the test file needs, once the services that these name run */
  envOf(file: string): Promise<Record<string, string>>;
}

/** Runs the files in batches, each in a separate process, a few at a time. Prints a batch's report when it ends. */
export async function runTests(files: readonly string[], around: Surroundings, signal: AbortSignal): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  const waiting = inBatches(files);
  const next = () => {
    const ready = waiting.findIndex(({ files }) => files.every(around.isReady));
    return waiting.splice(Math.max(ready, 0), 1)[0];
  };
  const work = async () => {
    for (let batch = next(); batch && !signal.aborted; batch = next()) {
      outcomes.push(await runBatch(batch, around, signal));
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return sum(outcomes);
}

async function runBatch({ files, isolated }: Batch, around: Surroundings, stopping: AbortSignal): Promise<Outcome> {
  const env = Object.assign({}, ...(await Promise.all(files.map(around.envOf))));
  const withinMs = isolated ? FILE_WITHIN_MS * files.length : FILE_WITHIN_MS;
  const overdue = AbortSignal.timeout(withinMs);
  const engine = isolated || files.length === 1 ? SHORT_LIVED : {};
  const color = process.stdout.isTTY ? { FORCE_COLOR: "1" } : {};
  const flags = ["--no-orphans", `--timeout=${TIMEOUT_MS}`, ...(isolated ? ["--isolate"] : [])];
  const child = Bun.spawn([process.execPath, "test", ...flags, ...files.map((file) => `./${file}`)], {
    env: { ...engine, ...process.env, ...color, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    signal: AbortSignal.any([stopping, overdue]),
    killSignal: "SIGKILL",
  });
  const [printed, report] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const exitCode = await child.exited;
  const late = overdue.aborted ? `(fail) ${files.join(", ")} did not end within ${withinMs / 1000} s\n` : "";
  const told = `${printed}${report.trim()}\n${late}\n`;
  process.stdout.write(told);
  const tally = readTally(report, exitCode);
  return { ...tally, failures: tally.failed > 0 ? [{ name: files.join(", "), report: told }] : [] };
}
