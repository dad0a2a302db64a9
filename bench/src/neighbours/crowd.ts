/**
 * Processes that share nothing with the victim but the machine, and take as much CPU as an attack makes Parley take. Where
 * each process has cores of its own, nobody would notice them.
 */
import { constants, setPriority } from "node:os";
import type { Run } from "../run.ts";

export interface Crowd {
  /** By the names of the shares. */
  pids: Readonly<Record<string, readonly number[]>>;
  stop(): Promise<void>;
}

/** A share below this is not worth a process. */
const LEAST = 0.01;
const PAUSE_MS = 1;

/**
 * @param shares of CPU by process, in parts of one core; a share of several cores takes several processes
 * @param low the names of those with the lowest priority
 */
export function startCrowd(run: Run, shares: Readonly<Record<string, number>>, low: readonly string[]): Crowd {
  const parts = Object.entries(shares)
    .filter(([, share]) => share >= LEAST)
    .flatMap(([name, share]) => Array<[string, number]>(Math.ceil(share)).fill([name, share / Math.ceil(share)]));
  const children = parts.map(([name, share]) => {
    const env = { ...process.env, SHARE: String(share), ...(low.includes(name) && { LOW: "1" }) };
    const args = [process.execPath, "--no-orphans", import.meta.path];
    return { name, child: Bun.spawn(args, { env, stdio: ["ignore", "inherit", "inherit"] }) };
  });
  const stop = async () => {
    for (const { child } of children) child.kill("SIGKILL");
    await Promise.all(children.map(({ child }) => child.exited));
  };
  run.onEnd(stop);
  const byName = Map.groupBy(children, ({ name }) => name);
  return {
    pids: Object.fromEntries([...byName].map(([name, each]) => [name, each.map(({ child }) => child.pid)])),
    stop,
  };
}

if (import.meta.main) {
  if (process.env.LOW === "1") setPriority(constants.priority.PRIORITY_LOW);
  const share = Number(process.env.SHARE);
  const usedMs = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  };
  const beganMs = performance.now();
  const before = usedMs();
  for (;;) {
    while (usedMs() - before < share * (performance.now() - beganMs));
    await Bun.sleep(PAUSE_MS);
  }
}
