import type { Database } from "@parley/shared/db/database";
import type { Sweep } from "@parley/shared/jobs/sweeps";
import { deleteOldFigures } from "../store/figures/recent-figures.ts";

const HOUR_MS = 60 * 60_000;
/** The longest window of an alert, and an hour. */
const KEPT_MS = 25 * HOUR_MS;

/** Deletes the figures by the minute that no alert reads anymore. */
export function oldRecentFigures(db: Database): Sweep {
  return {
    name: "recent-figures",
    everyMs: HOUR_MS,
    deletes: true,
    run: (now) => deleteOldFigures(db, new Date(now.getTime() - KEPT_MS)),
  };
}
