import { readFileSync, writeFileSync } from "node:fs";

/** Memory peaks of named processes, from the moment the watch begins. */
export interface MemoryWatch {
  /** Peaks so far, bytes. A process that was replaced keeps the highest of its predecessors. */
  peaks(): Record<string, number>;
  /** How often a process was found to be another than before. */
  replaced(): number;
  stop(): void;
}

type Pids = () => Readonly<Record<string, number>>;

const SAMPLE_MS = 100;

/** @param pids tells the processes as they are at the time */
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
  // Should a process be killed, the last sample is what is known of it.
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

/** Makes what a process holds now its peak (proc(5): clear_refs). Without the right to, peaks are those of its whole life. */
function resetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
  } catch {
    // The process has ended, or belongs to somebody else.
  }
}

/** VmHWM, bytes; 0 of a process that is gone. */
function peakOf(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
