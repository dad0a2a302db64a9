/**
 * Processes that share nothing with the victim but the machine, and take as much CPU as an attack makes Parley take. Where
 * each process has cores of its own, nobody would notice them.
 */
import type { Run } from "../run.ts";
import type { IdleCpu } from "./idle-cpu.ts";

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
 * @param idle the names of those that get only CPU time that nobody else uses
 */
export function startCrowd(
  run: Run,
  idleCpu: IdleCpu,
  shares: Readonly<Record<string, number>>,
  idle: readonly string[],
): Crowd {
  const parts = Object.entries(shares)
    .filter(([, share]) => share >= LEAST)
    .flatMap(([name, share]) => Array<[string, number]>(Math.ceil(share)).fill([name, share / Math.ceil(share)]));
  const children = parts.map(([name, share]) => {
    const env = { ...process.env, SHARE: String(share) };
    const args = [process.execPath, "--no-orphans", import.meta.path];
    // A session of its own, like each process of Parley.
    const child = Bun.spawn(args, { env, stdio: ["ignore", "inherit", "inherit"], detached: true });
    if (idle.includes(name)) idleCpu.add([child.pid]);
    return { name, child };
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
