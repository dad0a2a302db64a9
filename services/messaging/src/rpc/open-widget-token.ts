import type { Handler, MessagingContext } from "../context.ts";
import { isOwnerDeleted } from "../store/deleted-owners.ts";
import { wrongToken } from "../widget/token.ts";

export function openWidgetToken(ctx: MessagingContext): Handler<"openWidgetToken"> {
  return async ({ token, origin }) => {
    const { ownerId, agentId, sessionId } = ctx.widgetTokens.open(token, origin, ctx.clock.now());
    if (await isOwnerDeleted(ctx.db, ownerId)) throw wrongToken();
    return { ownerId, agentId, sessionId };
  };
}
