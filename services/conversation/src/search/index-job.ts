import type { Database } from "@parley/shared/db/database";
import { HAND_OVER, type Queue } from "@parley/shared/jobs/worker";
import { indexNextPart, numberEnded } from "../store/search/build-index.ts";
import { timeSlice } from "../time-slice.ts";

const RETRY_MS = 5_000;

/** Adds an owner's ended conversations to the search index. Triggers enqueue it (0004_conversation_search). */
export function indexConversationsQueue(db: Database): Record<string, Queue> {
  return {
    "index-conversations": {
      // One owner's texts may be long; then other owners' jobs run in between.
      concurrency: 2,
      perOwner: 1,
      leaseMs: 60_000,
      retryDelayMs: () => RETRY_MS,
      run: async ({ ownerId }, lease) => {
        const isOver = timeSlice(lease);
        if (!(await numberEnded(db, ownerId, isOver))) return HAND_OVER;
        while (await indexNextPart(db, ownerId)) if (isOver()) return HAND_OVER;
      },
    },
  };
}
