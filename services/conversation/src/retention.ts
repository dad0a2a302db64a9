import { KEPT_MS } from "@parley/shared/idempotency/run";
import type { ConversationContext } from "./context.ts";
import { foldConversationChanges } from "./store/conversation-counts.ts";
import { deleteExpired, listExpired, listOwnerExpiry } from "./store/expired.ts";
import { deleteExpiredTurnKeys } from "./store/turn-keys.ts";
import type { Sweep } from "./sweeps.ts";

/** "From disk within a day" (decisions.md: Retention), with plenty of room for a sweep that was held up. */
const EVERY_MS = 15 * 60_000;
const OWNERS = 500;
/** Conversations forgotten in one call and deleted in one transaction: a few ten milliseconds of an owner's writers that would meet it. */
const BATCH = 200;
/** Deletions are changes that a list adds up until they are folded into the counts: few at any time. */
const FOLD_AFTER = 2_000;

/**
 * Deletes what is past retention, which no endpoint shows any more. The webhook dispatcher forgets it first, so that it does
 * whatever fails in between; while that is away, all waits here.
 */
export function expiredConversations(ctx: ConversationContext): Sweep {
  return {
    name: "delete-expired-conversations",
    everyMs: EVERY_MS,
    run: async (now, stopping) => {
      const keysExpiredAt = new Date(now.getTime() - KEPT_MS);
      while (!stopping.aborted && (await deleteExpiredTurnKeys(ctx.db, keysExpiredAt)) > 0);
      for (let last = ""; !stopping.aborted; ) {
        const owners = await listOwnerExpiry(ctx.db, last, now, OWNERS);
        for (const { ownerId, hasExpired } of owners) if (hasExpired) await sweepOwner(ctx, ownerId, now, stopping);
        last = owners.at(-1)?.ownerId ?? "";
        if (owners.length < OWNERS) return;
      }
    },
  };
}

async function sweepOwner(ctx: ConversationContext, ownerId: string, now: Date, stopping: AbortSignal) {
  const { db, forgetConversations } = ctx;
  let unfolded = 0;
  while (!stopping.aborted) {
    const expired = await listExpired(db, ownerId, now, BATCH);
    if (expired.length === 0) return;
    await forgetConversations({ ownerId, conversationIds: expired.map(({ conversationId }) => conversationId) });
    const deleted = await deleteExpired(db, ownerId, expired, now);
    // Somebody has them all locked: the next run takes them.
    if (deleted === 0) return;
    unfolded += deleted;
    if (unfolded < FOLD_AFTER) continue;
    await foldConversationChanges(db, ownerId);
    unfolded = 0;
  }
}
