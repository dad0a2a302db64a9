import type { Database } from "@parley/shared/db/database";
import type { Sweep } from "@parley/shared/jobs/sweeps";
import { PASS_VALID_MS } from "./score.ts";
import { deleteOldPasses } from "./store/passes.ts";
import { deleteOldRuns } from "./store/runs.ts";

const EVERY_MS = 60 * 60_000;
const BATCH = 10;
const PASSES = 1_000;

/** Deletes passes that no longer count, and runs that are as old: what was said in them may be a customer's. */
export function oldRuns(db: Database): Sweep {
  return {
    name: "delete-old-test-runs",
    everyMs: EVERY_MS,
    deletes: true,
    run: async (now, stopping) => {
      const before = new Date(now.getTime() - PASS_VALID_MS);
      while ((await deleteOldRuns(db, before, BATCH)) === BATCH && !stopping.aborted);
      while ((await deleteOldPasses(db, before, PASSES)) === PASSES && !stopping.aborted);
    },
  };
}
