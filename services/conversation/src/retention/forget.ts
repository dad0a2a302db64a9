import type { Sql } from "@parley/shared/db/database";
import { enqueueJob } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { ConversationContext } from "../context.ts";

const QUEUE = "forget-conversations";
/** What the relay had under way is with the dispatcher by then, or will never be: its calls have 5 s. */
const AFTER_MS = 60_000;
const RETRY_MAX_MS = 10 * 60_000;

interface Gone {
  conversationIds: readonly string[];
}

/** Has the webhook dispatcher remove what it was told of conversations, one at least, after the transaction that deletes them. */
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

/** Tells the webhook dispatcher, for as long as it takes: deleting goes on while that is away, and nothing is left there. */
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
