import { ServiceError } from "@parley/shared/errors";
import type { ConversationContext } from "../context.ts";
import { readConversation } from "../lists/read-conversation.ts";
import type { ConversationRow } from "../store/conversations.ts";
import type { SessionKey } from "../store/session-key.ts";

/**
 * Returns a voice runtime's conversation, ended or not.
 * @throws ServiceError not_found, forbidden, or condition for a chat, which only its turns may write to
 */
export async function readCall(ctx: ConversationContext, key: SessionKey): Promise<ConversationRow> {
  const row = await readConversation(ctx, key, "Conversation");
  if (row.type === "CHAT") throw new ServiceError("condition", "Conversation is a chat session, which its turns write");
  return row;
}
