import { notFound, ServiceError } from "@parley/shared/errors";
import { isUuid } from "@parley/shared/ids";
import type { ConversationContext } from "../context.ts";
import { type ConversationRow, conversationExists, findConversation } from "../store/conversations.ts";
import type { SessionKey } from "../store/session-key.ts";

/**
 * Returns the conversation if its owner may read it.
 * @param what the word for it in messages to the user, "Conversation" or "Session"
 * @throws ServiceError not_found for an id that is unknown, malformed or past retention, forbidden for another owner's
 */
export async function readConversation(
  ctx: ConversationContext,
  key: SessionKey,
  what: "Conversation" | "Session",
): Promise<ConversationRow> {
  if (!isUuid(key.conversationId)) throw notFound(what);
  const now = ctx.clock.now();
  const row = await findConversation(ctx.db, key, now);
  if (row) return row;
  if (await conversationExists(ctx.db, key.conversationId, now)) {
    throw new ServiceError("forbidden", `You do not have access to this ${what.toLowerCase()}`);
  }
  throw notFound(what);
}
