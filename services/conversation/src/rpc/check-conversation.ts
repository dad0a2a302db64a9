import type { ConversationContext, Handler } from "../context.ts";
import { readConversation } from "../lists/read-conversation.ts";

/** Whether the owner may read a conversation, for what belongs to it and is stored elsewhere. */
export function checkConversation(ctx: ConversationContext): Handler<"checkConversation"> {
  return async (key) => {
    await readConversation(ctx, key, "Conversation");
    return {};
  };
}
