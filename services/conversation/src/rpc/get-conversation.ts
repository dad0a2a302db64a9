import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Room } from "@parley/shared/db/bounded-page";
import type { Handlers } from "@parley/shared/rpc/server";
import type { ConversationContext } from "../context.ts";
import { toConversation } from "../convert.ts";
import { readConversation } from "../lists/read-conversation.ts";
import { CONVERSATION_BYTES_MAX, readTranscript } from "../lists/read-transcript.ts";
import { sumUsage } from "../store/messages.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["getConversation"]>;

export function getConversation(ctx: ConversationContext): Handler {
  return async ({ withToolCalls = false, withUsage = false, ...key }, call) => {
    const read = async (room: Room) => {
      const row = await readConversation(ctx, key, "Conversation");
      const [messages, usage] = await Promise.all([
        readTranscript(ctx.db, row, withToolCalls, room),
        withUsage ? sumUsage(ctx.db, key) : undefined,
      ]);
      return toConversation(row, messages, usage);
    };
    return { conversation: await ctx.boundedRead(key.ownerId, CONVERSATION_BYTES_MAX, call, read) };
  };
}
