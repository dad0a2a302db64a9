import type { Database } from "@parley/shared/db/database";
import type { Sweep } from "@parley/shared/jobs/sweeps";
import { deleteOldDeliveries, deleteOldEvents } from "./store/events.ts";

/** Days that deliveries and their attempts can be looked up. */
const KEPT_DAYS = 30;

const DAY_MS = 24 * 60 * 60 * 1000;
const EVERY_MS = 60 * 60 * 1000;
const BATCH = 1_000;
/** Of payloads in a statement. Postgres deletes about 400 MB a second, less from a cold disk, and a statement ends after 15 s. */
const BATCH_BYTES = 256 * 1024 * 1024;

/** Deletes what has been kept long enough. */
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
