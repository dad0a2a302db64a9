import type { Queue } from "@parley/shared/jobs/worker";
import { backOff } from "@parley/shared/retry/back-off";
import type { MessagingContext } from "../context.ts";
import { deleteMessagesOf } from "../store/deleted-owners.ts";

const QUEUE = "forget-owner";
const RETRY_MAX_MS = 5 * 60_000;
const ROWS = 1_000;

export function forgetJob(ownerId: string, dueAt: Date) {
  return { ownerId, jobId: QUEUE, queue: QUEUE, payload: {}, dueAt };
}

/** Deletes the threads of deleted owners, with the messages that wait in them. The reply of a turn in progress is not sent. */
export function forgetOwners({ db }: Pick<MessagingContext, "db">): Record<string, Queue> {
  return {
    [QUEUE]: {
      concurrency: 2,
      leaseMs: 60_000,
      retryDelayMs: backOff(2_000, RETRY_MAX_MS),
      run: async ({ ownerId }, lease) => {
        while ((await deleteMessagesOf(db, ownerId, ROWS)) === ROWS) lease.throwIfAborted();
      },
    },
  };
}
