import type { Sql } from "@parley/shared/db/database";
import { enqueueJob } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { ConversationContext } from "../context.ts";

const QUEUE = "forget-conversations";
/** By then the relay's running calls, which time out after 5 s, have reached the dispatcher or failed. */
const AFTER_MS = 60_000;
const RETRY_MAX_MS = 10 * 60_000;

interface Gone {
  conversationIds: readonly string[];
}

/**
 * Enqueues the deletion of conversations at the webhook dispatcher in the transaction that deletes them here.
 * @param ids must not be empty
 */
export async function forgetLater(
  tx: Sql,
  ownerId: string,
  conversationIds: readonly string[],
  now: Date,
): Promise<void> {
  const payload: Gone = { conversationIds };
  const dueAt = new Date(now.getTime() + AFTER_MS);
  await enqueueJob(tx, { ownerId, jobId: `${QUEUE}-${conversationIds[0]}`, queue: QUEUE, payload, dueAt });
}

/** Retries without end: deletion continues while the dispatcher is down, and nothing stays there. */
export function forgetQueue({ forgetConversations }: ConversationContext): Record<string, Queue> {
  return {
    [QUEUE]: {
      concurrency: 2,
      leaseMs: 30_000,
      retryDelayMs: (attempts) => Math.min(RETRY_MAX_MS, 500 * 2 ** attempts),
      run: async ({ ownerId, payload }) => {
        const { conversationIds } = payload as Gone;
        await forgetConversations({ ownerId, conversationIds: [...conversationIds] });
      },
    },
  };
}
