import type { Database } from "@parley/shared/db/database";
import type { Sweep } from "@parley/shared/jobs/sweeps";
import { deleteExpiredMediaStreams } from "../../store/media-streams.ts";

const EVERY_MS = 60_000;
const BATCH = 1_000;

/** Deletes media streams that no carrier opened in time. */
export function expiredMediaStreams(db: Database): Sweep {
  return {
    name: "delete-expired-media-streams",
    everyMs: EVERY_MS,
    deletes: true,
    run: async (now, stopping) => {
      while ((await deleteExpiredMediaStreams(db, now, BATCH)) === BATCH && !stopping.aborted);
    },
  };
}
