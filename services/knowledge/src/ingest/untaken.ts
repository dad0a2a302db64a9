import type { Database } from "@parley/shared/db/database";
import type { Sweep } from "@parley/shared/jobs/sweeps";
import { deleteUntakenParts } from "../store/contents.ts";

const EVERY_MS = 10 * 60_000;
/** Much longer than an upload takes. */
const KEPT_MS = 60 * 60_000;
const AT_ONCE = 100;

/** Deletes bytes that were sent and that no document took. */
export function untakenParts(db: Database): Sweep {
  return {
    name: "delete-untaken-parts",
    everyMs: EVERY_MS,
    deletes: true,
    run: async (now, stopping) => {
      const before = new Date(now.getTime() - KEPT_MS);
      while (!stopping.aborted && (await deleteUntakenParts(db, before, AT_ONCE)) > 0);
    },
  };
}
