import type { ConversationContext, Handler } from "../context.ts";
import { forgetAlertsOf } from "../store/alerts.ts";
import { forgetEventsOf } from "../store/events/owner-events.ts";

/** The owner's conversations, with their events, are deleted as their retention says. */
export function forgetOwner({ db }: ConversationContext): Handler<"forgetOwner"> {
  return async ({ ownerId }) => {
    await db.begin(async (tx) => {
      await forgetAlertsOf(tx, ownerId);
      await forgetEventsOf(tx, ownerId);
    });
    return {};
  };
}
