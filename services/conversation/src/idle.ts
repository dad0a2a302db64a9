import { enqueueJobOnce } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { ConversationContext } from "./context.ts";
import { closeSilentChats } from "./store/conversations.ts";

const QUEUE = "close-silent-chats";
const BATCH = 200;
const SWEEP_MAX_MS = 15_000;
const RETRY_MS = 5_000;

/** Starts the one sweep of all replicas, if it does not run yet. */
export async function sweepSilentChats(ctx: ConversationContext): Promise<void> {
  await enqueueJobOnce(ctx.db, { ownerId: "", jobId: QUEUE, queue: QUEUE, payload: {}, dueAt: ctx.clock.now() });
}

/** Ends chats nobody writes in any more; runs again and again, in one replica at a time. */
export function silentChatQueue(ctx: ConversationContext): Record<string, Queue> {
  const idleMs = ctx.limits.chatIdleMinutes * 60_000;
  const everyMs = Math.min(SWEEP_MAX_MS, idleMs / 4);
  return {
    [QUEUE]: {
      concurrency: 1,
      leaseMs: 30_000,
      retryDelayMs: () => RETRY_MS,
      run: async () => {
        const now = ctx.clock.now();
        const silentSince = new Date(now.getTime() - idleMs);
        while ((await closeSilentChats(ctx.db, silentSince, now, BATCH)) === BATCH);
        return new Date(now.getTime() + everyMs);
      },
    },
  };
}
