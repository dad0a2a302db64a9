import { notFound, ServiceError } from "@parley/shared/errors";
import type { DispatcherContext, Handler } from "../context.ts";
import { toDelivery } from "../convert.ts";
import { enqueueDestinations } from "../delivery/queue.ts";
import { resent } from "../delivery/state.ts";
import { checkDeliveryId, checkEnabled } from "../rules.ts";
import { changeEnded, getDestinationId } from "../store/deliveries.ts";
import { lockDestination } from "../store/destinations.ts";
import { findDelivery } from "../store/list-deliveries.ts";

/** Gives a delivery the attempts of its destination's schedule again, however it ended. */
export function resendDelivery({ db, clock }: DispatcherContext): Handler<"resendDelivery"> {
  return async ({ ownerId, deliveryId }) => {
    checkDeliveryId(deliveryId);
    const now = clock.now();
    await db.begin(async (tx) => {
      const destinationId = await getDestinationId(tx, { ownerId, deliveryId });
      const destination = await lockDestination(tx, { ownerId, destinationId }).catch(toDeleted);
      checkEnabled(destination);
      await changeEnded(tx, { ownerId, deliveryId }, resent(destination.retrySchedule, now));
      await enqueueDestinations(tx, [destination], now);
    });
    const row = await findDelivery(db, { ownerId, deliveryId });
    if (!row) throw notFound("Delivery");
    return { delivery: toDelivery(row) };
  };
}

function toDeleted(error: unknown): never {
  if (!(error instanceof ServiceError) || error.kind !== "not_found") throw error;
  throw new ServiceError("condition", "Destination was deleted: its deliveries cannot be resent");
}
