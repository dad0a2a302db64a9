import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { timeSlice } from "@parley/shared/jobs/time-slice";
import { HAND_OVER, type Queue } from "@parley/shared/jobs/worker";
import { indexNextPart, indexStatuses } from "../store/search/build-index.ts";
import { numberEnded, numberSilent } from "../store/search/number-conversations.ts";

/** How long a conversation that goes on must have been silent: most that are continued are continued sooner. */
const SILENT_MS = 60_000;

/**
 * Adds an owner's ended conversations to the search index, and those that go on and have been silent. Triggers enqueue it
 * (0001_conversation).
 */
export function indexConversationsQueue(db: Database, clock: Clock): Record<string, Queue> {
  return {
    "index-conversations": {
      // One owner's texts may be long; then other owners' jobs run in between.
      concurrency: 2,
      perOwner: 1,
      run: async ({ ownerId }, lease) => {
        const isOver = timeSlice(lease);
        if (!(await numberEnded(db, ownerId, isOver))) return HAND_OVER;
        const silentSince = new Date(clock.now().getTime() - SILENT_MS);
        if (!(await numberSilent(db, ownerId, silentSince, isOver))) return HAND_OVER;
        await indexStatuses(db, ownerId);
        while (await indexNextPart(db, ownerId)) if (isOver()) return HAND_OVER;
      },
    },
  };
}
