import { enqueueForgetting } from "@parley/shared/jobs/forget-owner";
import type { DispatcherContext, Handler } from "../context.ts";
import { enqueueDestinations } from "../delivery/queue.ts";
import { deleteDestinationsOf } from "../store/destinations.ts";

export function forgetOwner({ db, clock }: DispatcherContext): Handler<"forgetOwner"> {
  return async ({ ownerId }) => {
    const now = clock.now();
    await db.begin(async (tx) => {
      const destinations = await deleteDestinationsOf(tx, ownerId);
      // Wakes the lanes, which may have read deliveries ahead.
      await enqueueDestinations(tx, destinations, now);
      await enqueueForgetting(tx, ownerId, now);
    });
    return {};
  };
}
