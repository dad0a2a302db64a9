import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { ConversationContext } from "../context.ts";
import { readConversation } from "../lists/read-conversation.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["checkConversation"]>;

/** Whether the owner may read a conversation, for what belongs to it and is stored elsewhere. */
export function checkConversation(ctx: ConversationContext): Handler {
  return async (key) => {
    await readConversation(ctx, key, "Conversation");
    return {};
  };
}
