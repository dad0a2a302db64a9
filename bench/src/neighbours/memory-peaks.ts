import { readFileSync, writeFileSync } from "node:fs";

/** Memory peaks of named processes from the start of the watch. */
export interface MemoryWatch {
  /** Peaks so far, in bytes. A replaced process keeps the highest peak of its predecessors. */
  peaks(): Record<string, number>;
  /** How often a process was found to have been replaced. */
  replaced(): number;
  stop(): void;
}

type Pids = () => Readonly<Record<string, number>>;

const SAMPLE_MS = 100;

/** @param pids returns the current processes */
export function watchMemory(pids: Pids): MemoryWatch {
  const known: Record<string, number> = { ...pids() };
  const peaks: Record<string, number> = {};
  let replaced = 0;
  for (const pid of Object.values(known)) resetPeak(pid);

  function sample(): void {
    for (const [name, pid] of Object.entries(pids())) {
      if (known[name] !== pid) replaced++;
      known[name] = pid;
      peaks[name] = Math.max(peaks[name] ?? 0, peakOf(pid));
    }
  }

  sample();
  // If a process is killed, only its last sample is known.
  const timer = setInterval(sample, SAMPLE_MS);
  return {
    peaks: () => {
      sample();
      return { ...peaks };
    },
    replaced: () => replaced,
    stop: () => clearInterval(timer),
  };
}

/** Resets a process's peak to its current memory (proc(5): clear_refs). Without permission, peaks cover its whole life. */
function resetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
  } catch {
    // The process has ended, or belongs to someone else.
  }
}

/** VmHWM in bytes; 0 for a process that has ended. */
function peakOf(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
