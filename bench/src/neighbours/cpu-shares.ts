import { cpuUsed } from "../cpu.ts";

/** CPU that named processes and this one, the victim's client, use from the start of the watch. */
export interface CpuWatch {
  /** By name, in parts of one core. A replaced process counts from its start. */
  shares(): Record<string, number>;
}

/** @param pids returns the current processes with their children */
export function watchCpu(pids: () => Readonly<Record<string, readonly number[]>>): CpuWatch {
  const beganMs = performance.now();
  const before = used();
  const ownBefore = process.cpuUsage();

  function used(): Record<string, { of: string; us: number }> {
    return Object.fromEntries(
      Object.entries(pids()).map(([name, each]) => [name, { of: each.join(), us: cpuUsed(each) }]),
    );
  }

  return {
    shares: () => {
      const us = (performance.now() - beganMs) * 1_000;
      const shares = Object.entries(used()).map(([name, now]): [string, number] => {
        const earlier = before[name]?.of === now.of ? before[name].us : 0;
        return [name, (now.us - earlier) / us];
      });
      const own = process.cpuUsage(ownBefore);
      return { ...Object.fromEntries(shares), "victim's client": (own.user + own.system) / us };
    },
  };
}
