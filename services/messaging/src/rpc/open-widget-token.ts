import { ServiceError } from "@parley/shared/errors";
import type { Handler, MessagingContext } from "../context.ts";
import { isOwnerDeleted } from "../store/deleted-owners.ts";
import { countWidgetMessage } from "../store/widget-days.ts";
import { wrongToken } from "../widget/token.ts";

const DAY_MS = 24 * 60 * 60_000;

/** Opens a token for one message, which counts towards the day's limit: outside of a browser an origin proves nothing, and replies cost the owner. */
export function openWidgetToken(ctx: MessagingContext): Handler<"openWidgetToken"> {
  return async ({ token, origin }) => {
    const now = ctx.clock.now();
    const { ownerId, agentId, sessionId } = ctx.widgetTokens.open(token, origin, now);
    if (await isOwnerDeleted(ctx.db, ownerId)) throw wrongToken();
    if (await countWidgetMessage(ctx.db, ownerId, now, ctx.widgetMessagesPerDay))
      return { ownerId, agentId, sessionId };
    throw new ServiceError(
      "rate_limited",
      "Visitors have sent this account's agents the maximum number of messages for one day",
      {
        retryAfterMs: DAY_MS - (now.getTime() % DAY_MS),
      },
    );
  };
}
