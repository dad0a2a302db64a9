import { readFileSync, readlinkSync } from "node:fs";

/**
 * Identifies the process with a pid: pids are reused, a pid with its start time is not. Null when there is none, or
 * when the system does not say (Linux's /proc does).
 */
export function identify(pid: number): string | null {
  const fields = statFields(pid);
  if (!fields || fields.state === "Z") return null;
  return `${bootId()}:${pid}:${fields.startTime}`;
}

/**
 * Whether the process that `identify` identified has ended, as far as the system says: false when it does not say.
 * Both must be asked in one PID namespace.
 */
export function hasEnded(pid: number, identity: string): boolean {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT";
  }
  const { state, startTime } = parse(stat);
  const boot = bootId();
  return state === "Z" || (boot !== "" && `${boot}:${pid}:${startTime}` !== identity);
}

/** The namespace that this process's pid and those in /proc belong to. Null without /proc, or when it shows another one. */
export function pidNamespace(): string | null {
  try {
    return readlinkSync("/proc/self") === String(process.pid) ? readlinkSync("/proc/self/ns/pid") : null;
  } catch {
    return null;
  }
}

export function parentOf(pid: number): number | null {
  return statFields(pid)?.parent ?? null;
}

export function commandLine(pid: number): string {
  return read(`/proc/${pid}/cmdline`)?.replaceAll("\0", " ") ?? "";
}

interface StatFields {
  state: string;
  parent: number;
  startTime: string;
}

function statFields(pid: number): StatFields | null {
  const stat = read(`/proc/${pid}/stat`);
  return stat ? parse(stat) : null;
}

/** Reads proc_pid_stat(5), where the command's name is in parentheses and may contain anything. */
function parse(stat: string): StatFields {
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
