import { readFileSync } from "node:fs";

/** Resident memory of processes, in bytes (VmRSS of proc_pid_status(5)). */
export function memoryUsed(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + residentKb(pid) * 1024, 0);
}

function residentKb(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
