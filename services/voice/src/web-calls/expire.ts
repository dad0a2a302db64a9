import type { Database } from "@parley/shared/db/database";
import type { Sweep } from "@parley/shared/jobs/sweeps";
import { deleteExpiredWebCalls, deleteUnusedWebCalls } from "../store/web-calls.ts";

const EVERY_MS = 60_000;
/** A token can also hang up its call, so it is kept longer than any call lasts. */
const KEPT_MS = 24 * 60 * 60_000;
/** A call that nobody connected in time cannot begin any more, but for clocks that differ. */
const UNUSED_KEPT_MS = 60_000;
const BATCH = 1_000;

/** Deletes web calls a day after they expired, and earlier those that no browser connected. */
export function expiredWebCalls(db: Database): Sweep {
  return {
    name: "delete-expired-web-calls",
    everyMs: EVERY_MS,
    deletes: true,
    run: async (now, stopping) => {
      const ago = (ms: number) => new Date(now.getTime() - ms);
      while ((await deleteUnusedWebCalls(db, ago(UNUSED_KEPT_MS), BATCH)) === BATCH && !stopping.aborted);
      while ((await deleteExpiredWebCalls(db, ago(KEPT_MS), BATCH)) === BATCH && !stopping.aborted);
    },
  };
}
