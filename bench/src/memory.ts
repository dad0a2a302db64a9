import { readFileSync } from "node:fs";

/** Resident memory of processes, in bytes (VmRSS of proc_pid_status(5)). A page that several of them map counts for each. */
export function memoryUsed(pids: readonly number[]): number {
  return sumOf(pids, "status", /^VmRSS:\s+(\d+) kB$/m);
}

/**
 * The processes' part of the machine's memory, in bytes (Pss of proc_pid_smaps_rollup(5)): a page that several processes map, such as
 * those of the program that they run, counts for each by its share.
 */
export function memoryShare(pids: readonly number[]): number {
  return sumOf(pids, "smaps_rollup", /^Pss:\s+(\d+) kB$/m);
}

function sumOf(pids: readonly number[], file: string, line: RegExp): number {
  return pids.reduce((sum, pid) => sum + kbOf(pid, file, line) * 1024, 0);
}

function kbOf(pid: number, file: string, line: RegExp): number {
  try {
    return Number(line.exec(readFileSync(`/proc/${pid}/${file}`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
