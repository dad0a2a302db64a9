import type { ConversationContext, Handler } from "../context.ts";
import { toConversation } from "../convert.ts";
import { readConversation } from "../lists/read-conversation.ts";
import { readTranscript } from "../lists/read-transcript.ts";
import { sumUsage } from "../store/messages.ts";

export function getConversation(ctx: ConversationContext): Handler<"getConversation"> {
  return async ({ withToolCalls = false, withUsage = false, withKnowledge = false, ...key }) => {
    const row = await readConversation(ctx, key, "Conversation");
    const [messages, usage] = await Promise.all([
      readTranscript(ctx.db, row, { toolCalls: withToolCalls, knowledge: withKnowledge }, ctx.clock.now()),
      withUsage ? sumUsage(ctx.db, key) : undefined,
    ]);
    return { conversation: toConversation(row, messages, usage) };
  };
}
