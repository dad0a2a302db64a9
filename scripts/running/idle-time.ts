import { type CpuInfo, cpus } from "node:os";

/** Watches the machine's cores. @returns a function that tells which share of their time, 0 to 1, was idle since its last call */
export function watchIdleTime(read: () => readonly Pick<CpuInfo, "times">[] = cpus): () => number {
  let last = totals(read());
  return () => {
    const now = totals(read());
    const [idle, all] = [now.idle - last.idle, now.all - last.all];
    last = now;
    return all > 0 ? idle / all : 0;
  };
}

function totals(cores: readonly Pick<CpuInfo, "times">[]): { idle: number; all: number } {
  const total = (figure: (core: Pick<CpuInfo, "times">) => number) =>
    cores.reduce((sum, core) => sum + figure(core), 0);
  return {
    idle: total(({ times }) => times.idle),
    all: total(({ times }) => Object.values(times).reduce((sum, time) => sum + time, 0)),
  };
}
