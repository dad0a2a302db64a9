import { readTally, sum, type Tally } from "./tally.ts";

/** Time limit of a test, in milliseconds; some boot whole services on a busy machine. */
const TIMEOUT_MS = 60_000;
/** Time limit of a file, so that one that hangs does not hang the run. */
const FILE_WITHIN_MS = 300_000;
const AT_A_TIME = 2;

/**
 * Runs each file in a separate process, so that none sees what another left behind: within one process, even with Bun's
 * `--isolate`, a hung socket of one file has kept the next from ending. Prints a file's report when it ends.
 */
export async function runTests(
  files: readonly string[],
  env: Record<string, string>,
  signal: AbortSignal,
): Promise<Tally> {
  const tallies: Tally[] = [];
  const waiting = [...files];
  const work = async () => {
    for (let file = waiting.shift(); file && !signal.aborted; file = waiting.shift()) {
      tallies.push(await runFile(file, env, signal));
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return sum(tallies);
}

async function runFile(file: string, env: Record<string, string>, stopping: AbortSignal): Promise<Tally> {
  const overdue = AbortSignal.timeout(FILE_WITHIN_MS);
  const colour = process.stdout.isTTY ? { FORCE_COLOR: "1" } : {};
  const child = Bun.spawn([process.execPath, "test", "--no-orphans", `--timeout=${TIMEOUT_MS}`, `./${file}`], {
    env: { ...process.env, ...colour, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    signal: AbortSignal.any([stopping, overdue]),
    killSignal: "SIGKILL",
  });
  const [printed, report] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const exitCode = await child.exited;
  process.stdout.write(`${printed}${report.trim()}\n\n`);
  if (overdue.aborted) console.log(`(fail) ${file} did not end within ${FILE_WITHIN_MS / 1000} s\n`);
  return readTally(report, exitCode);
}
