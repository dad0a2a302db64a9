import { enqueueJobOnce } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { DispatcherContext } from "./context.ts";
import { deleteOldDeliveries, deleteOldEvents } from "./store/events.ts";

/** Days that deliveries and their attempts can be looked up. */
const KEPT_DAYS = 30;

const QUEUE = "forget-deliveries";
const DAY_MS = 24 * 60 * 60 * 1000;
const EVERY_MS = 60 * 60 * 1000;
const BATCH = 1_000;
const RETRY_MS = 60_000;

/** Starts the one sweep of all replicas, if it does not run yet. */
export async function sweepDeliveries({ db, clock }: DispatcherContext): Promise<void> {
  await enqueueJobOnce(db, { ownerId: "", jobId: QUEUE, queue: QUEUE, payload: {}, dueAt: clock.now() });
}

/** Deletes what has been kept long enough; runs again and again, in one replica at a time. */
export function sweepQueue({ db, clock }: DispatcherContext): Record<string, Queue> {
  return {
    [QUEUE]: {
      concurrency: 1,
      leaseMs: 60_000,
      retryDelayMs: () => RETRY_MS,
      run: async () => {
        const now = clock.now();
        const before = new Date(now.getTime() - KEPT_DAYS * DAY_MS);
        while ((await deleteOldDeliveries(db, before, BATCH)) > 0);
        while ((await deleteOldEvents(db, before, BATCH)) > 0);
        return new Date(now.getTime() + EVERY_MS);
      },
    },
  };
}
