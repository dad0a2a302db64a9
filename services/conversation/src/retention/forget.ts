import type { Sql } from "@parley/shared/db/database";
import { enqueueJobs } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { ConversationContext } from "../context.ts";

/** The queues of the webhook dispatcher and of the voice service: each service has its own jobs, so that neither waits for the other. */
const QUEUES = ["forget-conversations", "forget-recordings"] as const;
/** By then the relay's running calls, made within 30 s of the read and with a timeout of 5 s, have reached the dispatcher or failed. */
const AFTER_MS = 60_000;

interface Gone {
  conversationIds: readonly string[];
}

/**
 * Enqueues, in the transaction that deletes conversations here, the deletion of what other services keep of them.
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
  const jobs = QUEUES.map((queue) => ({ ownerId, jobId: `${queue}-${conversationIds[0]}`, queue, payload, dueAt }));
  await enqueueJobs(tx, jobs);
}

/** Retries without end: deletion continues while a service is down, and nothing stays there. */
export function forgetQueues(ctx: ConversationContext): Record<string, Queue> {
  const queue = (forget: (gone: { ownerId: string; conversationIds: string[] }) => Promise<unknown>): Queue => ({
    concurrency: 2,
    run: async ({ ownerId, payload }) => {
      const { conversationIds } = payload as Gone;
      await forget({ ownerId, conversationIds: [...conversationIds] });
    },
  });
  return {
    "forget-conversations": queue(ctx.forgetConversations),
    "forget-recordings": queue(ctx.forgetRecordings),
  } satisfies Record<(typeof QUEUES)[number], Queue>;
}
