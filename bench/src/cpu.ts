import { readFileSync } from "node:fs";

/** Linux reports CPU time to user space in hundredths of a second (time(7)). */
const TICK_US = 10_000;

/** User and system CPU time of processes and their children so far, in microseconds (proc_pid_stat(5)). */
export function cpuUsed(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + treeCpu(pid), 0);
}

/** A parent's figures include its ended children. */
function treeCpu(pid: number): number {
  const stat = read(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  const children = read(`/proc/${pid}/task/${pid}/children`).split(" ").map(Number).filter(Boolean);
  return ticks * TICK_US + cpuUsed(children);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
