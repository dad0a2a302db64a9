import type { Logger } from "@parley/shared/log";
import type { DeliveryState, PendingDelivery } from "../store/deliveries.ts";
import type { Attempt } from "./attempt.ts";

/** @param state of the delivery after the attempt; null if it could not be stored */
export function logAttempt(
  log: Logger,
  delivery: PendingDelivery,
  attempt: Attempt,
  state: DeliveryState | null,
): void {
  log.info(
    {
      owner_id: delivery.ownerId,
      destination_id: delivery.destinationId,
      delivery_id: delivery.deliveryId,
      event_id: delivery.eventId,
      attempt: delivery.attempts + 1,
      http_status: attempt.httpStatus,
      error: attempt.error,
      ms: attempt.durationMs,
      status: state?.status ?? "lost",
    },
    "webhook attempt",
  );
}
