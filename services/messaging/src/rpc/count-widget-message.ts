import { ServiceError } from "@parley/shared/errors";
import type { Handler, MessagingContext } from "../context.ts";
import { countWidgetMessage as count } from "../store/widget-days.ts";

const DAY_MS = 24 * 60 * 60_000;

/** Counts a message towards the day's limit: outside of a browser an origin proves nothing, and replies cost the owner. */
export function countWidgetMessage(ctx: MessagingContext): Handler<"countWidgetMessage"> {
  return async ({ ownerId }) => {
    const now = ctx.clock.now();
    if (await count(ctx.db, ownerId, now, ctx.widgetMessagesPerDay)) return {};
    throw new ServiceError(
      "rate_limited",
      "Visitors have sent this account's agents the maximum number of messages for one day",
      { retryAfterMs: DAY_MS - (now.getTime() % DAY_MS) },
    );
  };
}
