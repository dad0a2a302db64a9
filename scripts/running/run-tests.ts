import { availableParallelism } from "node:os";
import { tellCutOff } from "../failures.ts";
import { hasNoMatch, type Outcome, readTally, sum } from "../tally.ts";
import { type Batch, inBatches } from "./batches.ts";
import { watchIdleTime } from "./idle-time.ts";

/** Time limit of a test, in milliseconds; some boot whole services on a busy machine. */
const TIMEOUT_MS = 120_000;
/** Time limit of a file, or of all unit tests of a part, so that one that hangs does not hang the run. */
const FILE_WITHIN_MS = 600_000;
/** Batches that run at a time, however busy the cores are: tests wait longer than they compute. */
const AT_A_TIME = Math.min(2 * availableParallelism() + 1, 6);
/** While cores idle, more are started, up to what the Postgres of the tests has connections for. */
const AT_A_TIME_MOST = AT_A_TIME + 4;
const IDLE_SHARE = 0.25;
/** How long a new batch has to show how busy it keeps the cores, in milliseconds. */
const SETTLED_MS = 1_000;

/**
 * A batch runs most of its code a few times only, and isolated files would each optimize it anew: that costs more than it
 * saves. The unit tests of a part share one process and repeat their code. Stacks do not inherit this: they have settings of
 * their own (`tests/kit/stack/short-lived.ts`).
 */
const WITHOUT_OPTIMIZERS = { BUN_JSC_useDFGJIT: "0" };

export interface Surroundings {
  /** Whether what the test file needs is ready; other files may start first. */
  isReady(file: string): boolean;
  /** @returns the variables that the test file needs, once the services that these name run */
  envOf(file: string): Promise<Record<string, string>>;
}

/**
 * Runs the files in batches, each in a separate process, a few at a time and more while cores idle. Prints a batch's report
 * when it ends.
 * @param name a regular expression for the names of the tests to run; undefined for all
 */
export async function runTests(
  files: readonly string[],
  name: string | undefined,
  around: Surroundings,
  signal: AbortSignal,
): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  const waiting = inBatches(files);
  const next = () => {
    const ready = waiting.findIndex(({ files }) => files.every(around.isReady));
    return waiting.splice(Math.max(ready, 0), 1)[0];
  };
  const running = new Set<Promise<void>>();
  for (let batch = next(); batch && !signal.aborted; batch = next()) {
    const run = runBatch(batch, name, around, signal).then((outcome) => {
      outcomes.push(outcome);
      running.delete(run);
    });
    // The failure reaches whoever waits for one of them below.
    run.catch(() => {});
    running.add(run);
    while (running.size >= AT_A_TIME) {
      if (running.size >= AT_A_TIME_MOST) await Promise.race(running);
      else if (await hasRoom(running)) break;
    }
  }
  await Promise.all(running);
  return sum(outcomes);
}

/** Watches the cores for a while, or until one of these ends. @returns whether the cores have room for one more */
async function hasRoom(running: ReadonlySet<Promise<void>>): Promise<boolean> {
  const idleShare = watchIdleTime();
  const hasSettled = Bun.sleep(SETTLED_MS).then(() => true);
  const hasEnded = Promise.race(running).then(() => false);
  hasEnded.catch(() => {});
  return (await Promise.race([hasSettled, hasEnded])) && idleShare() > IDLE_SHARE;
}

async function runBatch(
  { files, isolated }: Batch,
  name: string | undefined,
  around: Surroundings,
  stopping: AbortSignal,
): Promise<Outcome> {
  const env = Object.assign({}, ...(await Promise.all(files.map(around.envOf))));
  const withinMs = isolated ? FILE_WITHIN_MS * files.length : FILE_WITHIN_MS;
  const overdue = AbortSignal.timeout(withinMs);
  const engine = isolated || files.length === 1 || !files[0]?.includes("/src/") ? WITHOUT_OPTIMIZERS : {};
  const color = process.stdout.isTTY ? { FORCE_COLOR: "1" } : {};
  const named = name === undefined ? [] : [`--test-name-pattern=${name}`];
  const flags = ["--no-orphans", `--timeout=${TIMEOUT_MS}`, ...(isolated ? ["--isolate"] : []), ...named];
  const child = Bun.spawn([process.execPath, "test", ...flags, ...files.map((file) => `./${file}`)], {
    env: { ...engine, ...process.env, ...color, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    signal: AbortSignal.any([stopping, overdue]),
    killSignal: "SIGKILL",
  });
  const [printed, report] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const exitCode = await child.exited;
  if (name !== undefined && hasNoMatch(report)) return { passed: 0, failed: 0, failures: [] };
  const end = child.signalCode ? `ended by ${child.signalCode}` : `ended with exit code ${exitCode}`;
  const how = overdue.aborted ? `did not end within ${withinMs / 1000} s, and hung` : end;
  const told = `${printed}${report.trim()}\n${tellCutOff(report, files, how, overdue.aborted)}\n`;
  process.stdout.write(told);
  const tally = readTally(report, exitCode);
  return { ...tally, failures: tally.failed > 0 ? [{ name: files.join(", "), report: told }] : [] };
}
