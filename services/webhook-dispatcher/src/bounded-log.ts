import type { Database } from "@parley/shared/db/database";
import { foldAll, queueOfFolds } from "@parley/shared/folds/fold";
import type { Queue } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import { findStoredBytes, STORED_BYTES_FOLD } from "@parley/shared/stored-bytes/fold";
import { deleteOldest, EVENTS_AT_ONCE } from "./store/stored-bytes.ts";

/** Of the limit, what a full owner keeps, so that room is not made for every event anew. */
const KEPT_SHARE = 15 / 16;
/** Events among which ended ones are looked for before pending ones go: without a bound, a long backlog is read each time. */
const LOOKED_AT_MAX = 100_000;

interface BoundedLog {
  db: Database;
  log: Logger;
  /** Limit for what is stored for one owner, reached some seconds late. */
  bytesMax: number;
}

/**
 * Keeps the sum of each owner's events, deliveries and attempts new, and what they have within the limit. The triggers of
 * `stored_changes` enqueue it.
 */
export function boundedLogQueue(settings: BoundedLog): Record<string, Queue> {
  return { "fold-stored-bytes": queueOfFolds((ownerId, isOver) => keepWithin(settings, ownerId, isOver)) };
}

/**
 * Deletes the oldest events of an owner who has more than the limit: those of which nothing is pending, and if they do not suffice,
 * others.
 * @param isOver called after each part
 * @returns false when it was over before it was done
 */
async function keepWithin({ db, log, bytesMax }: BoundedLog, ownerId: string, isOver: () => boolean) {
  let after = "";
  let lookedAt = 0;
  let pendingToo = false;
  let deleted = 0;
  try {
    for (let most = bytesMax; ; most = bytesMax * KEPT_SHARE) {
      if (!(await foldAll(db, ownerId, STORED_BYTES_FOLD, isOver))) return false;
      const bytes = await findStoredBytes(db, ownerId);
      if (bytes <= most) return true;
      const part = await deleteOldest(db, ownerId, { after, bytes: bytes - bytesMax * KEPT_SHARE, pendingToo });
      deleted += part.deleted;
      lookedAt += part.events;
      after = part.last;
      if (part.events < EVENTS_AT_ONCE || (!pendingToo && lookedAt >= LOOKED_AT_MAX)) {
        // Nothing that an event has is left.
        if (pendingToo) return true;
        pendingToo = true;
        after = "";
      }
      if (isOver()) return false;
    }
  } finally {
    if (deleted > 0)
      log.warn(
        { owner_id: ownerId, bytes_max: bytesMax, deleted_events: deleted, pending_too: pendingToo },
        "an owner's webhook log is full: the oldest events are deleted",
      );
  }
}
