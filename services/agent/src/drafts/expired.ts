import type { Database } from "@parley/shared/db/database";
import type { Sweep } from "@parley/shared/jobs/sweeps";
import { deleteExpiredDrafts } from "../store/drafts.ts";

const EVERY_MS = 60 * 60_000;
const BATCH = 100;

/** Deletes drafts that have expired. */
export function expiredDrafts(db: Database): Sweep {
  return {
    name: "delete-expired-drafts",
    everyMs: EVERY_MS,
    deletes: true,
    run: async (now, stopping) => {
      while ((await deleteExpiredDrafts(db, now, BATCH)) === BATCH && !stopping.aborted);
    },
  };
}
