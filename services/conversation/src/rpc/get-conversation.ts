import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { ConversationContext } from "../context.ts";
import { toConversation } from "../convert.ts";
import { readConversation } from "../read-conversation.ts";
import { listTranscripts } from "../store/messages.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["getConversation"]>;

export function getConversation(ctx: ConversationContext): Handler {
  return async (key) => {
    const row = await readConversation(ctx, key, "Conversation");
    const transcripts = await listTranscripts(ctx.db, key.ownerId, [row.conversationId]);
    return { conversation: toConversation(row, transcripts.get(row.conversationId) ?? []) };
  };
}
