import type { Database } from "@parley/shared/db/database";
import { HAND_OVER, type Queue } from "@parley/shared/jobs/worker";
import { turnOf } from "../job-turn.ts";
import { indexNextPart, numberEnded } from "../store/search/index.ts";

const RETRY_MS = 5_000;

/** Brings the conversations of an owner that ended into the search's index. Asked for by the tables (0004_conversation_search). */
export function indexConversationsQueue(db: Database): Record<string, Queue> {
  return {
    "index-conversations": {
      // One owner's texts may be long, and then others go past it.
      concurrency: 2,
      perOwner: 1,
      leaseMs: 60_000,
      retryDelayMs: () => RETRY_MS,
      run: async ({ ownerId }, lease) => {
        const isOver = turnOf(lease);
        if (!(await numberEnded(db, ownerId, isOver))) return HAND_OVER;
        while (await indexNextPart(db, ownerId)) if (isOver()) return HAND_OVER;
      },
    },
  };
}
