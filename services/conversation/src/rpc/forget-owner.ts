import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { ConversationContext } from "../context.ts";
import { forgetAlertsOf } from "../store/alerts.ts";
import { forgetEventsOf } from "../store/events/owner-events.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["forgetOwner"]>;

/** The owner's conversations, with their events, are deleted as their retention says. */
export function forgetOwner({ db }: ConversationContext): Handler {
  return async ({ ownerId }) => {
    await db.begin(async (tx) => {
      await forgetAlertsOf(tx, ownerId);
      await forgetEventsOf(tx, ownerId);
    });
    return {};
  };
}
