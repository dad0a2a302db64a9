import { accessSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { dirname, join } from "node:path";
import { eventually } from "@parley/testkit/eventually";
import type { Run } from "../run.ts";

/** Lets processes run only while no other process wants the CPU. */
export interface IdleCpu {
  /** Otherwise they only have the lowest priority, and delay others by some milliseconds whenever these wake up. */
  isIdle: boolean;
  /** Adds processes, each the leader of its session, with all their threads. */
  add(pids: readonly number[]): void;
}

const GROUPS = "/sys/fs/cgroup";
const EMPTY_WITHIN_MS = 5_000;

/**
 * A priority alone is not enough. Linux compares priorities only within a session (sched(7), autogroup), and each process of
 * Parley and each connection of Postgres is a session. So the processes join a control group for idle CPU time, which takes root.
 */
export function openIdleCpu(run: Run): IdleCpu {
  const group = idleGroup(run);
  if (!group) return { isIdle: false, add: (pids) => pids.forEach(lower) };
  return {
    isIdle: true,
    add: (pids) => {
      for (const pid of pids) writeFileSync(join(group, "cgroup.procs"), String(pid));
    },
  };
}

function idleGroup(run: Run): string | null {
  for (const parent of parents()) {
    const group = join(parent, `parley-bench-${process.pid}`);
    const idle = join(group, "cpu.idle");
    try {
      mkdirSync(group);
      run.onEnd(() => eventually(() => rmdirSync(group), EMPTY_WITHIN_MS).catch(() => {}));
      accessSync(idle);
      writeFileSync(idle, "1");
      return group;
    } catch {
      // Not permitted, or a kernel without it.
    }
  }
  return null;
}

/** Where a group competes with this process for CPU time (cgroups(7)). Version 2 has no groups below one with processes. */
function parents(): string[] {
  const lines = readFileSync("/proc/self/cgroup", "utf8").trim().split("\n");
  return lines.flatMap((line) => {
    const [, controllers = "", path = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers.split(",").includes("cpu")) return [join(GROUPS, "cpu", path)];
    return controllers === "" ? [join(GROUPS, dirname(path))] : [];
  });
}

function lower(pid: number): void {
  setPriority(pid, constants.priority.PRIORITY_LOW);
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(constants.priority.PRIORITY_LOW));
  } catch {
    // A kernel that knows no sessions compares the priorities of all processes.
  }
}
