import type { Database } from "@parley/shared/db/database";
import { timeSlice } from "@parley/shared/jobs/time-slice";
import { HAND_OVER, type Queue } from "@parley/shared/jobs/worker";
import { foldStoredChanges } from "@parley/shared/stored-bytes/fold";
import { foldConversationChanges } from "../store/conversation-counts.ts";
import { foldFigureChanges } from "../store/fold-figures.ts";
import { CONVERSATIONS } from "../store/stored-bytes.ts";

const RETRY_MS = 5_000;

/**
 * Keep the number of changes low that a list must add to the counts, and statistics to the figures, and the sums of stored bytes
 * new. Triggers enqueue them (0001_conversation).
 * @param patient without a limit on the time to answer
 */
export function foldQueues(db: Database, patient: Database): Record<string, Queue> {
  return {
    "fold-conversation-counts": queueOf((ownerId, isOver) => foldCounts(db, ownerId, isOver)),
    "fold-figures": queueOf((ownerId, isOver) => untilNone(() => foldFigureChanges(db, ownerId), isOver)),
    "fold-stored-bytes": queueOf((ownerId, isOver) =>
      untilNone(() => foldStoredChanges(patient, ownerId, CONVERSATIONS), isOver),
    ),
  };
}

/** @param fold returns false when it was over before it was done */
function queueOf(fold: (ownerId: string, isOver: () => boolean) => Promise<boolean>): Queue {
  return {
    concurrency: 1,
    leaseMs: 60_000,
    retryDelayMs: () => RETRY_MS,
    run: async ({ ownerId }, lease) => {
      if (!(await fold(ownerId, timeSlice(lease)))) return HAND_OVER;
    },
  };
}

/**
 * Folds an owner's changes into the counts until none is left, or until `isOver`, called after each batch, returns
 * true; then returns false.
 */
export async function foldCounts(db: Database, ownerId: string, isOver: () => boolean): Promise<boolean> {
  return untilNone(() => foldConversationChanges(db, ownerId), isOver);
}

async function untilNone(fold: () => Promise<number>, isOver: () => boolean): Promise<boolean> {
  while ((await fold()) > 0) if (isOver()) return false;
  return true;
}
