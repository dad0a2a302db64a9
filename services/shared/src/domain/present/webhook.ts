import type { Attempt, Delivery, Destination } from "@parley/proto/parley/webhook/v1/webhook.ts";
import { DELIVERY_STATUSES, nameOf, REQUEST_TYPES } from "../api-names.ts";
import { isoTime } from "./time.ts";

/** A destination as the management API and the command line show it. */
export function presentDestination(destination: Destination) {
  return {
    destination_id: destination.destinationId,
    name: destination.name,
    url: destination.url,
    request_type: nameOf(REQUEST_TYPES, destination.requestType) ?? "unknown",
    status: destination.enabled ? "enabled" : "disabled",
    old_secret_valid_until: isoTime(destination.oldSecretValidUntil) ?? null,
    created_at: isoTime(destination.createdAt) ?? null,
    updated_at: isoTime(destination.updatedAt) ?? null,
  };
}

/** A delivery as the management API and the command line show it, with each attempt. */
export function presentDelivery(delivery: Delivery) {
  return {
    delivery_id: delivery.deliveryId,
    destination_id: delivery.destinationId,
    event_id: delivery.eventId,
    event: delivery.event,
    conversation_id: delivery.conversationId,
    is_test: delivery.test,
    status: nameOf(DELIVERY_STATUSES, delivery.status) ?? "unknown",
    attempts: delivery.attempts.map(presentAttempt),
    next_attempt_at: isoTime(delivery.nextAttemptAt) ?? null,
    created_at: isoTime(delivery.createdAt) ?? null,
  };
}

function presentAttempt(attempt: Attempt) {
  return {
    number: attempt.number,
    started_at: isoTime(attempt.startedAt) ?? null,
    duration_ms: attempt.durationMs,
    http_status: attempt.httpStatus ?? null,
    error: attempt.error ?? null,
    response_excerpt: attempt.responseExcerpt ?? null,
  };
}
