import { invalid } from "@parley/shared/errors";
import type { DispatcherContext, Handler } from "../context.ts";
import { enqueueDestinations } from "../delivery/queue.ts";
import { resent } from "../delivery/state.ts";
import { checkEnabled } from "../rules.ts";
import { CHANGED_AT_ONCE, changeFailed } from "../store/deliveries.ts";
import { lockDestination } from "../store/destinations.ts";

/**
 * Resends a destination's failed deliveries created since a given time, for a receiver that was down. Repeated after an error, it
 * resends the rest.
 */
export function resendFailedDeliveries({ db, clock }: DispatcherContext): Handler<"resendFailedDeliveries"> {
  return async ({ ownerId, destinationId, since }, { signal }) => {
    if (!since) throw invalid("since", "since is required and must be a time");
    const now = clock.now();
    const resendNext = (after: string) =>
      db.begin(async (tx) => {
        const destination = await lockDestination(tx, { ownerId, destinationId });
        checkEnabled(destination);
        const changed = await changeFailed(tx, destination, { since, after }, resent(destination.retrySchedule, now));
        await enqueueDestinations(tx, [destination], now);
        return changed;
      });
    let total = 0;
    // In order of id, so that no delivery is resent twice if it fails again meanwhile.
    for (let after = ""; ; ) {
      const { count, last } = await resendNext(after);
      total += count;
      after = last;
      if (count < CHANGED_AT_ONCE || signal.aborted) return { resent: total };
    }
  };
}
