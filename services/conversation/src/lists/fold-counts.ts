import type { Database } from "@parley/shared/db/database";
import { HAND_OVER, type Queue } from "@parley/shared/jobs/worker";
import { turnOf } from "../job-turn.ts";
import { foldConversationChanges } from "../store/conversation-counts.ts";

const RETRY_MS = 5_000;

/** Keeps the changes few that a list has to add to the counts. Asked for by the tables themselves (0003_conversation_counts). */
export function foldCountsQueue(db: Database): Record<string, Queue> {
  return {
    "fold-conversation-counts": {
      concurrency: 1,
      leaseMs: 60_000,
      retryDelayMs: () => RETRY_MS,
      run: async ({ ownerId }, lease) => {
        if (!(await foldCounts(db, ownerId, turnOf(lease)))) return HAND_OVER;
      },
    },
  };
}

/** Adds an owner's changes to the counts until none is left or `isOver`, asked after each batch, says so: false then. */
export async function foldCounts(db: Database, ownerId: string, isOver: () => boolean): Promise<boolean> {
  while ((await foldConversationChanges(db, ownerId)) > 0) if (isOver()) return false;
  return true;
}
