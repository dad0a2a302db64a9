import { isUuid } from "@parley/shared/ids";
import type { DispatcherContext, Handler } from "../context.ts";
import { enqueueDestinations } from "../delivery/queue.ts";
import { cancelled } from "../delivery/state.ts";
import type { DestinationKey } from "../store/destinations.ts";
import { type ForgottenDelivery, forgetDeliveries, forgetEvents, forgetExcerpts } from "../store/forget.ts";

/** Deletes the dispatcher's data of conversations past retention (docs/api-reference.md#retention). */
export function forgetConversations({ db, clock }: DispatcherContext): Handler<"forgetConversations"> {
  return async ({ ownerId, conversationIds }) => {
    await db.begin(async (tx) => {
      const deliveries = await forgetDeliveries(tx, ownerId, conversationIds.filter(isUuid), cancelled());
      if (deliveries.length === 0) return;
      await forgetExcerpts(tx, ownerId, deliveries);
      await forgetEvents(tx, ownerId, deliveries);
      // Wakes the lanes, which may have read these deliveries ahead.
      await enqueueDestinations(tx, destinationsOf(ownerId, deliveries), clock.now());
    });
    return {};
  };
}

function destinationsOf(ownerId: string, deliveries: readonly ForgottenDelivery[]): DestinationKey[] {
  const ids = new Set(deliveries.filter(({ wasPending }) => wasPending).map(({ destinationId }) => destinationId));
  return [...ids].map((destinationId) => ({ ownerId, destinationId }));
}
