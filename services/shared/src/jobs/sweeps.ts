import { type Clock, isSure } from "../clock.ts";
import type { Database } from "../db/database.ts";
import type { Logger } from "../log.ts";
import { counter } from "../telemetry/instruments.ts";
import { enqueueJobsOnce } from "./store.ts";
import type { Queue } from "./worker.ts";

/** Work that is repeated in one replica at a time. */
export interface Sweep {
  /** The name of its queue and of its one job. */
  name: string;
  everyMs: number;
  /** Whether it deletes old data; then it does not run while the clock is in doubt. */
  deletes?: boolean;
  /** May end early when `stopping` fires; another replica then runs it at once. */
  run(now: Date, stopping: AbortSignal): Promise<void>;
}

/** Another process's host may have the right time. */
const UNSURE_RETRY_MS = 60_000;

const refused = counter("parley.sweeps.refused", "Sweeps that deleted nothing because clocks contradict each other");

/** Enqueues the sweeps that are not running yet. */
export async function startSweeps(db: Database, clock: Clock, sweeps: readonly Sweep[]): Promise<void> {
  const dueAt = clock.now();
  await enqueueJobsOnce(
    db,
    sweeps.map(({ name }) => ({ ownerId: "", jobId: name, queue: name, payload: {}, dueAt })),
  );
}

/** Returns a queue for each sweep. @param stopping ends running sweeps early */
export function sweepQueues(
  clock: Clock,
  log: Logger,
  sweeps: readonly Sweep[],
  stopping: AbortSignal,
): Record<string, Queue> {
  return Object.fromEntries(sweeps.map((sweep) => [sweep.name, queueOf(sweep, clock, log, stopping)]));
}

function queueOf(
  { name, everyMs, deletes = false, run }: Sweep,
  clock: Clock,
  log: Logger,
  stopping: AbortSignal,
): Queue {
  if (deletes) refused().add(0, { sweep: name });
  return {
    concurrency: 1,
    run: async () => {
      const now = clock.now();
      if (deletes && !isSure(clock)) {
        refused().add(1, { sweep: name });
        log.error(
          { sweep: name, doubt_ms: Math.round(clock.doubtMs?.() ?? 0) },
          "nothing is deleted: the clocks of the database and of this host are more than a day apart, or one jumped",
        );
        return new Date(now.getTime() + UNSURE_RETRY_MS);
      }
      await run(now, stopping);
      return stopping.aborted ? now : new Date(now.getTime() + everyMs);
    },
  };
}
