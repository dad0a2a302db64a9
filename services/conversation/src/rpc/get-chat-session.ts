import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import type { Handlers } from "@parley/shared/rpc/server";
import type { ConversationContext } from "../context.ts";
import { toChatSession } from "../convert.ts";
import { readConversation } from "../lists/read-conversation.ts";
import { readTranscript } from "../lists/read-transcript.ts";
import { sumUsage } from "../store/messages.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["getChatSession"]>;

export function getChatSession(ctx: ConversationContext): Handler {
  return async ({ ownerId, sessionId, withToolCalls = false, withKnowledge = false }) => {
    const key = { ownerId, conversationId: sessionId };
    const session = await readConversation(ctx, key, "Session");
    if (session.type !== "CHAT") throw new ServiceError("condition", "Session is not a chat session");
    const [messages, usage] = await Promise.all([
      readTranscript(ctx.db, session, { toolCalls: withToolCalls, knowledge: withKnowledge }, ctx.clock.now()),
      sumUsage(ctx.db, key),
    ]);
    return { session: toChatSession(session, messages, usage) };
  };
}
