import { invalid } from "@parley/shared/errors";
import type { DispatcherContext, Handler } from "../context.ts";
import { enqueueDestinations } from "../delivery/queue.ts";
import { resent } from "../delivery/state.ts";
import { checkEnabled } from "../rules.ts";
import { changeFailed } from "../store/deliveries.ts";
import { lockDestination } from "../store/destinations.ts";

/** Resends a destination's failed deliveries created since a given time, for a receiver that was down. */
export function resendFailedDeliveries({ db, clock }: DispatcherContext): Handler<"resendFailedDeliveries"> {
  return async ({ ownerId, destinationId, since }) => {
    if (!since) throw invalid("since", "since is required and must be a time");
    const now = clock.now();
    const count = await db.begin(async (tx) => {
      const destination = await lockDestination(tx, { ownerId, destinationId });
      checkEnabled(destination);
      const changed = await changeFailed(tx, destination, since, resent(now));
      await enqueueDestinations(tx, [destination], now);
      return changed;
    });
    return { resent: count };
  };
}
