import type { Database } from "@parley/shared/db/database";
import type { Sweep } from "@parley/shared/jobs/sweeps";
import { deleteExpiredWebCalls } from "../store/web-calls.ts";

const EVERY_MS = 60_000;
/** A token can also hang up its call, so it is kept longer than any call lasts. */
const KEPT_MS = 24 * 60 * 60_000;
const BATCH = 1_000;

/** Deletes web calls a day after they expired. */
export function expiredWebCalls(db: Database): Sweep {
  return {
    name: "delete-expired-web-calls",
    everyMs: EVERY_MS,
    deletes: true,
    run: async (now, stopping) => {
      const before = new Date(now.getTime() - KEPT_MS);
      while ((await deleteExpiredWebCalls(db, before, BATCH)) === BATCH && !stopping.aborted);
    },
  };
}
