import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { ConversationContext } from "../context.ts";
import { watchAll, watchOne } from "../live/watch.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["watchConversations"]>;

export function watchConversations(ctx: ConversationContext): Handler {
  return (request, { signal, stopping }) => {
    const over = AbortSignal.any([signal, stopping]);
    return request.conversationId === undefined ? watchAll(ctx, request, over) : watchOne(ctx, request, over);
  };
}
