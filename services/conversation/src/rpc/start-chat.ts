import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { collectValues } from "@parley/shared/domain/variables/values";
import { newId, newUuid } from "@parley/shared/ids";
import type { Handlers } from "@parley/shared/rpc/server";
import type { ConversationContext } from "../context.ts";
import { insertGreetedSession } from "../store/conversations.ts";
import { filledGreeting } from "../turn/ask/filled-texts.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["startChat"]>;

export function startChat(ctx: ConversationContext): Handler {
  return async ({ ownerId, agentId, metadata, draftId }) => {
    const agent = await ctx.getAgent(ownerId, agentId, draftId);
    ctx.room.refuseFull(ownerId);
    const variables = collectValues(metadata ?? {});
    const greeting = filledGreeting(agent, variables);
    const conversationId = newUuid();
    await insertGreetedSession(ctx.db, {
      ownerId,
      conversationId,
      id: newId("cnv"),
      agentId,
      draftId: draftId ?? null,
      greeting,
      metadata: metadata ?? {},
      variables,
      now: ctx.clock.now(),
    });
    return { sessionId: conversationId, firstMessage: greeting };
  };
}
