import type { Handler } from "../../../context.ts";
import { isOwnerDeleted } from "../../../store/deleted-owners.ts";
import type { WidgetContext } from "../context.ts";
import { wrongToken } from "../token.ts";

export function openToken(ctx: WidgetContext): Handler<"openWidgetToken"> {
  return async ({ token, origin }) => {
    const { ownerId, agentId, sessionId } = ctx.tokens.open(token, origin, ctx.clock.now());
    if (await isOwnerDeleted(ctx.db, ownerId)) throw wrongToken();
    return { ownerId, agentId, sessionId };
  };
}
