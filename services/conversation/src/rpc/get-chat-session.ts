import { ServiceError } from "@parley/shared/errors";
import type { ConversationContext, Handler } from "../context.ts";
import { toChatSession } from "../convert.ts";
import { readConversation } from "../lists/read-conversation.ts";
import { readTranscript } from "../lists/read-transcript.ts";
import { sumUsage } from "../store/messages.ts";

export function getChatSession(ctx: ConversationContext): Handler<"getChatSession"> {
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
