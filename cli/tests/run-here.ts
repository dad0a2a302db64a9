import { AsyncLocalStorage } from "node:async_hooks";
import { run } from "../src/run.ts";

/** How a command ended and what it printed. */
export interface Outcome {
  status: number;
  stdout: string;
  stderr: string;
}

/** What the command that is under way prints. */
const printing = new AsyncLocalStorage<Outcome>();
let isCollected = false;

/**
 * Runs the command line in this process, for a fraction of a process's CPU time. It has this process's working directory
 * and standard input.
 */
export async function runHere(args: readonly string[], env: Record<string, string>): Promise<Outcome> {
  if (!isCollected) for (const name of ["stdout", "stderr"] as const) collect(name);
  isCollected = true;
  const printed: Outcome = { status: -1, stdout: "", stderr: "" };
  printed.status = await printing.run(printed, () => run(args, { env, command: "bun run parley" }));
  return printed;
}

/** From now on, what a command writes becomes part of its outcome. */
function collect(name: "stdout" | "stderr"): void {
  const stream = process[name];
  const write = stream.write.bind(stream) as (...given: unknown[]) => boolean;
  stream.write = (...given: unknown[]) => {
    const printed = printing.getStore();
    if (!printed) return write(...given);
    printed[name] += given[0];
    const written = given.at(-1);
    if (typeof written === "function") written();
    return true;
  };
}
