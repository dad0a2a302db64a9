import { readFileSync } from "node:fs";

/**
 * Identifies the process with a pid: pids are reused, a pid with its start time is not. Null when there is none, or
 * when the system does not say (Linux's /proc does).
 */
export function identify(pid: number): string | null {
  const fields = statFields(pid);
  if (!fields || fields.state === "Z") return null;
  return `${bootId()}:${pid}:${fields.startTime}`;
}

export function parentOf(pid: number): number | null {
  return statFields(pid)?.parent ?? null;
}

export function commandLine(pid: number): string {
  return read(`/proc/${pid}/cmdline`)?.replaceAll("\0", " ") ?? "";
}

/** Fields of proc_pid_stat(5); the command's name is in parentheses and may contain anything. */
function statFields(pid: number): { state: string; parent: number; startTime: string } | null {
  const stat = read(`/proc/${pid}/stat`);
  if (!stat) return null;
  const [state = "", parent = "0", ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state, parent: Number(parent), startTime: rest[17] ?? "" };
}

function bootId(): string {
  return read("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
}

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
