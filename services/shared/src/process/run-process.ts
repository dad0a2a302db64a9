import { checkReady } from "./health.ts";
import type { Errands, Start } from "./running.ts";

/**
 * Runs a process until it is told to stop. With the argument `health` and the same environment it queries the running process instead
 * and exits with 0 or 1, as a container's health check needs. A container does so every few seconds, each time with a
 * new process: nothing else is loaded for it, so `start` and `errands` import what they run.
 */
export async function runProcess(name: string, start: Start, errands: Errands = {}): Promise<void> {
  if (process.argv[2] === "health") process.exit(await checkReady(process.env.PARLEY_ADMIN_LISTEN ?? ""));
  const { runUntilStopped } = await import("./run-until-stopped.ts");
  await runUntilStopped(name, start, errands);
}
