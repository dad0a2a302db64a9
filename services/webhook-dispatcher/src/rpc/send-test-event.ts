import type { DispatcherContext, Handler } from "../context.ts";
import { QUEUE } from "../delivery/queue.ts";
import { newDelivery } from "../delivery/state.ts";
import { checkEnabled, checkEvent } from "../rules.ts";
import { sampleEvent } from "../sample-event.ts";
import { lockDestination } from "../store/destinations.ts";
import { insertEvents, newDeliveryOf } from "../store/events.ts";

/** Sends the event only to this destination, whatever it gets otherwise. */
export function sendTestEvent({ db, clock }: DispatcherContext): Handler<"sendTestEvent"> {
  return async ({ ownerId, destinationId, event: name = "conversation.completed" }) => {
    const now = clock.now();
    const event = sampleEvent(ownerId, checkEvent("event", name), now);
    const deliveryId = await db.begin(async (tx) => {
      const destination = await lockDestination(tx, { ownerId, destinationId });
      checkEnabled(destination);
      const delivery = newDeliveryOf(event, destinationId, newDelivery(destination.retrySchedule, now));
      await insertEvents(tx, [event], [delivery], QUEUE, now);
      return delivery.deliveryId;
    });
    return { deliveryId };
  };
}
