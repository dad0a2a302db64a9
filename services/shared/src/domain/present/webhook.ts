import type { Attempt, Delivery, Destination } from "@parley/proto/parley/webhook/v1/webhook.ts";
import { DELIVERY_STATUSES, nameOf, REQUEST_TYPES, RETRY_SCHEDULES } from "../api-names.ts";
import { isoTime } from "./time.ts";

/** A destination as the management API and the command line show it. */
export function presentDestination(destination: Destination) {
  return {
    destination_id: destination.destinationId,
    name: destination.name,
    url: destination.url,
    request_type: nameOf(REQUEST_TYPES, destination.requestType) ?? "unknown",
    retry_schedule: nameOf(RETRY_SCHEDULES, destination.retrySchedule) ?? "unknown",
    events: destination.events,
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
    conversation_id: delivery.conversationId || null,
    is_test: delivery.test,
    status: nameOf(DELIVERY_STATUSES, delivery.status) ?? "unknown",
    attempts: delivery.attempts.map(presentAttempt),
    next_attempt_at: isoTime(delivery.nextAttemptAt) ?? null,
    created_at: isoTime(delivery.createdAt) ?? null,
  };
}

/** A delivery with what was sent to its destination. */
export function presentSentDelivery(delivery: Delivery) {
  const { payload, attempts } = delivery;
  return {
    ...presentDelivery(delivery),
    payload: payload ?? null,
    attempts: attempts.map((attempt) => ({ ...presentAttempt(attempt), request: presentRequest(attempt) })),
  };
}

function presentRequest({ request }: Attempt) {
  return request
    ? { method: nameOf(REQUEST_TYPES, request.method) ?? "unknown", url: request.url, headers: request.headers }
    : null;
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
