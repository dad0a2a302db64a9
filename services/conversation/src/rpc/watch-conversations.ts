import type { ConversationContext, Handler } from "../context.ts";
import { watchAll, watchOne } from "../live/watch.ts";

export function watchConversations(ctx: ConversationContext): Handler<"watchConversations"> {
  return (request, { signal, stopping }) => {
    const over = AbortSignal.any([signal, stopping]);
    return request.conversationId === undefined ? watchAll(ctx, request, over) : watchOne(ctx, request, over);
  };
}
