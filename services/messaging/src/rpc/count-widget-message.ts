import type { Handler, MessagingContext } from "../context.ts";
import { countMessages } from "../store/message-days.ts";

const REFUSAL = "Visitors have sent this account's agents the maximum number of messages for one day";

/** Counts a message towards the day's limit: outside of a browser an origin proves nothing, and replies cost the owner. */
export function countWidgetMessage({
  db,
  clock,
  widgetMessagesPerDay: max,
}: MessagingContext): Handler<"countWidgetMessage"> {
  return async ({ ownerId }) => {
    await countMessages(db, "widget_days", { ownerId, now: clock.now(), messages: 1, max, refusal: REFUSAL });
    return {};
  };
}
