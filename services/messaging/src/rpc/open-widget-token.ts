import type { Handler, MessagingContext } from "../context.ts";

export function openWidgetToken(ctx: MessagingContext): Handler<"openWidgetToken"> {
  return async ({ token, origin }) => {
    const { ownerId, agentId, sessionId } = ctx.widgetTokens.open(token, origin, ctx.clock.now());
    return { ownerId, agentId, sessionId };
  };
}
