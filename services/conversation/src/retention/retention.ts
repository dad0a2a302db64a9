import type { Database } from "@parley/shared/db/database";
import { foldChanges } from "@parley/shared/folds/fold";
import type { Sweep } from "@parley/shared/jobs/sweeps";
import type { Logger } from "@parley/shared/log";
import type { ConversationContext } from "../context.ts";
import { COUNTS } from "../store/conversation-counts.ts";
import {
  deleteConversations,
  deleteOldestMessages,
  type ExpiredConversation,
  listOwnerExpiry,
  takeExpired,
} from "../store/expired.ts";
import { forgetLater } from "./forget.ts";
import { inTurns } from "./in-turns.ts";

/** Expired conversations must leave the disk within a day; this leaves ample time for a delayed sweep. */
const EVERY_MS = 15 * 60_000;
/** How long past retention a conversation is kept for an unsent webhook; short enough for the promised day. */
const UNSENT_MS = 12 * 60 * 60_000;
const OWNERS = 500;
/** Conversations deleted in one transaction, which blocks the owner's writers for tens of milliseconds. */
const BATCH = 200;
/** Messages deleted in one transaction, well within the statement timeout. */
const MESSAGES = 10_000;
/** Lists add up every deletion until it is folded into the counts, so fold often. */
const FOLD_AFTER = 2_000;

type Context = Pick<ConversationContext, "db">;

/** Deletes conversations past retention, which no endpoint shows anymore. */
export function expiredConversations(ctx: Context, log: Logger): Sweep {
  return {
    name: "delete-expired-conversations",
    everyMs: EVERY_MS,
    deletes: true,
    run: async (now, stopping) => {
      await inTurns(ownersWithExpired(ctx.db, now), ownerSweep(ctx, log, now), stopping);
    },
  };
}

async function* ownersWithExpired(db: Database, now: Date): AsyncGenerator<string> {
  for (let last = ""; ; ) {
    const owners = await listOwnerExpiry(db, last, now, OWNERS);
    for (const { ownerId, hasExpired } of owners) if (hasExpired) yield ownerId;
    last = owners.at(-1)?.ownerId ?? "";
    if (owners.length < OWNERS) return;
  }
}

/** Returns a function that deletes the next batch of an owner's conversations and resolves to whether there may be more. */
function ownerSweep({ db }: Context, log: Logger, now: Date): (ownerId: string) => Promise<boolean> {
  const unfolded = new Map<string, number>();
  return async (ownerId) => {
    const { deleted, unsent, hasMore } = await deleteSome(db, ownerId, now);
    if (unsent > 0)
      log.warn({ owner_id: ownerId, events: unsent }, "deleted conversations whose events were never sent");
    const changes = (unfolded.get(ownerId) ?? 0) + deleted;
    unfolded.set(ownerId, changes);
    if (changes >= FOLD_AFTER) {
      await foldChanges(db, ownerId, COUNTS);
      unfolded.delete(ownerId);
    }
    return hasMore;
  };
}

interface Deleted {
  /** Number of conversations deleted. */
  deleted: number;
  /** How many of them had an unsent event. */
  unsent: number;
  hasMore: boolean;
}

function deleteSome(db: Database, ownerId: string, now: Date): Promise<Deleted> {
  return db.begin(async (tx): Promise<Deleted> => {
    const expired = await takeExpired(tx, ownerId, now, UNSENT_MS, BATCH);
    if (expired.length === 0) return { deleted: 0, unsent: 0, hasMore: false };
    const ids = firstWithin(expired, MESSAGES);
    if (ids.length === 0) {
      // A single conversation exceeds the limit. Nobody reads it anymore, so delete it piece by piece.
      const [{ conversationId } = { conversationId: "" }] = expired;
      const left = (await deleteOldestMessages(tx, { ownerId, conversationId }, MESSAGES)) === MESSAGES;
      if (left) return { deleted: 0, unsent: 0, hasMore: true };
      ids.push(conversationId);
    }
    const unsent = await deleteConversations(tx, ownerId, ids);
    await forgetLater(tx, ownerId, ids, now);
    return { deleted: ids.length, unsent, hasMore: true };
  }) as Promise<Deleted>;
}

/** The ids of the first conversations that together have at most `messagesMax` messages. */
function firstWithin(expired: readonly ExpiredConversation[], messagesMax: number): string[] {
  let messages = 0;
  const end = expired.findIndex(({ messageCount }) => {
    messages += messageCount;
    return messages > messagesMax;
  });
  return (end === -1 ? expired : expired.slice(0, end)).map(({ conversationId }) => conversationId);
}
