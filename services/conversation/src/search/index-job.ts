import type { Database } from "@parley/shared/db/database";
import type { Queue } from "@parley/shared/jobs/worker";
import { indexNextPart, numberEnded } from "../store/search-index.ts";

const RETRY_MS = 5_000;

/** Brings the conversations of an owner that ended into the search's index. Asked for by the tables (0004_conversation_search). */
export function indexConversationsQueue(db: Database): Record<string, Queue> {
  return {
    "index-conversations": {
      concurrency: 1,
      leaseMs: 60_000,
      retryDelayMs: () => RETRY_MS,
      run: async ({ ownerId }, lease) => {
        await numberEnded(db, ownerId);
        while (!lease.aborted && (await indexNextPart(db, ownerId)));
      },
    },
  };
}
