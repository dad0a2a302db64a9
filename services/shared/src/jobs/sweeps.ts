import type { Clock } from "../clock.ts";
import type { Database } from "../db/database.ts";
import { enqueueJobOnce } from "./store.ts";
import type { Queue } from "./worker.ts";

/** Work that is done again and again, in one replica at a time. */
export interface Sweep {
  /** Of its queue and its one job. */
  name: string;
  everyMs: number;
  /** May end early when `stopping` fires: it is then run again at once, by another replica. */
  run(now: Date, stopping: AbortSignal): Promise<void>;
}

const LEASE_MS = 30_000;
const RETRY_MS = 5_000;

/** Starts the sweeps that do not run yet. */
export async function startSweeps(db: Database, clock: Clock, sweeps: readonly Sweep[]): Promise<void> {
  for (const { name } of sweeps) {
    await enqueueJobOnce(db, { ownerId: "", jobId: name, queue: name, payload: {}, dueAt: clock.now() });
  }
}

/** A queue for each sweep. @param stopping ends those that run, early */
export function sweepQueues(clock: Clock, sweeps: readonly Sweep[], stopping: AbortSignal): Record<string, Queue> {
  return Object.fromEntries(sweeps.map((sweep) => [sweep.name, queueOf(sweep, clock, stopping)]));
}

function queueOf({ everyMs, run }: Sweep, clock: Clock, stopping: AbortSignal): Queue {
  return {
    concurrency: 1,
    leaseMs: LEASE_MS,
    retryDelayMs: () => RETRY_MS,
    run: async () => {
      const now = clock.now();
      await run(now, stopping);
      return stopping.aborted ? now : new Date(now.getTime() + everyMs);
    },
  };
}
