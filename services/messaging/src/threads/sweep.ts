import type { Database } from "@parley/shared/db/database";
import type { Sweep } from "@parley/shared/jobs/sweeps";
import { deleteOldIncoming } from "../store/incoming.ts";
import { deleteOldDays } from "../store/message-days.ts";
import { deleteOldOutgoing } from "../store/outgoing.ts";
import { deleteSilentThreads } from "../store/threads.ts";

const DAY_MS = 24 * 60 * 60_000;
/** How long messages are kept: a channel may repeat a callback for a week. */
const INCOMING_MS = 8 * DAY_MS;
/** How long sent messages are kept: a status may come for a month. */
const OUTGOING_MS = 31 * DAY_MS;
const EVERY_MS = 10 * 60_000;
const BATCH = 1_000;

/** Deletes rows that are no longer needed to recognize repeated messages and statuses, and the counts of past days. */
export function oldMessages(db: Database): Sweep {
  return {
    name: "delete-old-messages",
    everyMs: EVERY_MS,
    deletes: true,
    run: async (now, stopping) => {
      const before = (ms: number) => new Date(now.getTime() - ms);
      const all = async (deleteBatch: () => Promise<number>) => {
        while ((await deleteBatch()) === BATCH && !stopping.aborted);
      };
      await all(() => deleteOldIncoming(db, before(INCOMING_MS), BATCH));
      await all(() => deleteOldOutgoing(db, before(OUTGOING_MS), BATCH));
      await all(() => deleteSilentThreads(db, before(OUTGOING_MS), BATCH));
      await all(() => deleteOldDays(db, "message_days", before(DAY_MS), BATCH));
      await all(() => deleteOldDays(db, "sender_days", before(DAY_MS), BATCH));
    },
  };
}
