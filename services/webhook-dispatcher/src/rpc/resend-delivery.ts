import { PAGE_BYTES_MAX, type Room } from "@parley/shared/db/bounded-page";
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
export function resendDelivery({ db, clock, boundedRead }: DispatcherContext): Handler<"resendDelivery"> {
  return async ({ ownerId, deliveryId }, call) => {
    checkDeliveryId(deliveryId);
    const now = clock.now();
    await db.begin(async (tx) => {
      const destinationId = await getDestinationId(tx, { ownerId, deliveryId });
      const destination = await lockDestination(tx, { ownerId, destinationId }).catch(toDeleted);
      checkEnabled(destination);
      await changeEnded(tx, { ownerId, deliveryId }, resent(destination.retrySchedule, now));
      await enqueueDestinations(tx, [destination], now);
    });
    const find = (room: Room) => findDelivery(db, { ownerId, deliveryId }, room);
    const row = await boundedRead(ownerId, PAGE_BYTES_MAX, call, find);
    if (!row) throw notFound("Delivery");
    return { delivery: toDelivery(row) };
  };
}

function toDeleted(error: unknown): never {
  if (!(error instanceof ServiceError) || error.kind !== "not_found") throw error;
  throw new ServiceError("condition", "Destination was deleted: its deliveries cannot be resent");
}
