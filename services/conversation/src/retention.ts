import type { Database } from "@parley/shared/db/database";
import { KEPT_MS } from "@parley/shared/idempotency/run";
import type { Sweep } from "@parley/shared/jobs/sweeps";
import type { Logger } from "@parley/shared/log";
import type { ConversationContext } from "./context.ts";
import { forgetLater } from "./forget.ts";
import { foldConversationChanges } from "./store/conversation-counts.ts";
import { deleteConversations, listOwnerExpiry, takeExpired } from "./store/expired.ts";
import { deleteExpiredTurnKeys } from "./store/turn-keys.ts";

/** "From disk within a day" (decisions.md: Retention), with plenty of room for a sweep that was held up. */
const EVERY_MS = 15 * 60_000;
/** How long a conversation waits for its webhooks to be sent: the same day still. */
const UNSENT_MS = 12 * 60 * 60_000;
const OWNERS = 500;
/** Conversations deleted in one transaction: a few ten milliseconds of an owner's writers that would meet it. */
const BATCH = 200;
/** Deletions are changes that a list adds up until they are folded into the counts: few at any time. */
const FOLD_AFTER = 2_000;

/** Deletes what is past retention, which no endpoint shows any more. */
export function expiredConversations(ctx: ConversationContext, log: Logger): Sweep {
  return {
    name: "delete-expired-conversations",
    everyMs: EVERY_MS,
    deletes: true,
    run: async (now, stopping) => {
      const keysExpiredAt = new Date(now.getTime() - KEPT_MS);
      while (!stopping.aborted && (await deleteExpiredTurnKeys(ctx.db, keysExpiredAt)) > 0);
      for (let last = ""; !stopping.aborted; ) {
        const owners = await listOwnerExpiry(ctx.db, last, now, OWNERS);
        for (const { ownerId, hasExpired } of owners)
          if (hasExpired) await sweepOwner(ctx, log, ownerId, now, stopping);
        last = owners.at(-1)?.ownerId ?? "";
        if (owners.length < OWNERS) return;
      }
    },
  };
}

async function sweepOwner(
  { db }: ConversationContext,
  log: Logger,
  ownerId: string,
  now: Date,
  stopping: AbortSignal,
): Promise<void> {
  let unfolded = 0;
  while (!stopping.aborted) {
    const { deleted, unsent } = await deleteSome(db, ownerId, now);
    if (unsent > 0)
      log.warn({ owner_id: ownerId, events: unsent }, "conversations went before their events could be sent");
    if (deleted === 0) return;
    unfolded += deleted;
    if (unfolded < FOLD_AFTER) continue;
    await foldConversationChanges(db, ownerId);
    unfolded = 0;
  }
}

function deleteSome(db: Database, ownerId: string, now: Date): Promise<{ deleted: number; unsent: number }> {
  return db.begin(async (tx) => {
    const ids = await takeExpired(tx, ownerId, now, UNSENT_MS, BATCH);
    if (ids.length === 0) return { deleted: 0, unsent: 0 };
    const unsent = await deleteConversations(tx, ownerId, ids);
    await forgetLater(tx, ownerId, ids, now);
    return { deleted: ids.length, unsent };
  });
}
