import { readTally, type Tally } from "./tally.ts";

/** Of one test, milliseconds; some boot whole services on a busy machine. */
const TIMEOUT_MS = 30_000;

/**
 * Runs the test files whose path contains one of `paths`, all when there is none, each file in a fresh global scope, two at a
 * time. What Bun prints is passed on as it comes.
 */
export async function runTests(
  paths: readonly string[],
  env: Record<string, string>,
  signal: AbortSignal,
): Promise<Tally> {
  const colour = process.stderr.isTTY ? { FORCE_COLOR: "1" } : {};
  const child = Bun.spawn([process.execPath, "test", "--parallel=2", `--timeout=${TIMEOUT_MS}`, ...paths], {
    env: { ...process.env, ...colour, ...env },
    stdio: ["ignore", "inherit", "pipe"],
    signal,
  });
  const decoder = new TextDecoder();
  let output = "";
  for await (const chunk of child.stderr) {
    process.stderr.write(chunk);
    output += decoder.decode(chunk, { stream: true });
  }
  return readTally(output, await child.exited);
}
