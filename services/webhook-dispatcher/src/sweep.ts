import type { Database } from "@parley/shared/db/database";
import type { Sweep } from "@parley/shared/jobs/sweeps";
import { deleteOldDeliveries, deleteOldEvents } from "./store/events.ts";

/** How long deliveries and their attempts are kept. */
const KEPT_DAYS = 30;

const DAY_MS = 24 * 60 * 60 * 1000;
const EVERY_MS = 60 * 60 * 1000;
const BATCH = 1_000;
/**
 * Payload bytes deleted per statement: Postgres deletes about 400 MB/s, less from a cold disk, and the statement
 * timeout is 15 s.
 */
const BATCH_BYTES = 256 * 1024 * 1024;

/** Deletes deliveries and events older than `KEPT_DAYS`. */
export function oldDeliveries(db: Database): Sweep {
  return {
    name: "forget-deliveries",
    everyMs: EVERY_MS,
    deletes: true,
    run: async (now, stopping) => {
      const before = new Date(now.getTime() - KEPT_DAYS * DAY_MS);
      while (!stopping.aborted && (await deleteOldDeliveries(db, before, BATCH)) > 0);
      while (!stopping.aborted && (await deleteOldEvents(db, before, BATCH, BATCH_BYTES)) > 0);
    },
  };
}
