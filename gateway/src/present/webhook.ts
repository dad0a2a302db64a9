import {
  type Attempt,
  type Delivery,
  DeliveryStatus,
  type Destination,
  RequestType,
} from "@parley/proto/parley/webhook/v1/webhook.ts";
import { isoTime } from "./time.ts";

export const REQUEST_TYPES = {
  GET: RequestType.REQUEST_TYPE_GET,
  POST: RequestType.REQUEST_TYPE_POST,
  PATCH: RequestType.REQUEST_TYPE_PATCH,
  PUT: RequestType.REQUEST_TYPE_PUT,
} as const;
export const STATUSES = {
  pending: DeliveryStatus.DELIVERY_STATUS_PENDING,
  delivered: DeliveryStatus.DELIVERY_STATUS_DELIVERED,
  failed: DeliveryStatus.DELIVERY_STATUS_FAILED,
  cancelled: DeliveryStatus.DELIVERY_STATUS_CANCELLED,
} as const;

/** api.md: Webhook destination. */
export function presentDestination(destination: Destination) {
  return {
    destination_id: destination.destinationId,
    name: destination.name,
    url: destination.url,
    request_type: nameOf(REQUEST_TYPES, destination.requestType),
    status: destination.enabled ? "enabled" : "disabled",
    old_secret_valid_until: isoTime(destination.oldSecretValidUntil) ?? null,
    created_at: isoTime(destination.createdAt),
    updated_at: isoTime(destination.updatedAt),
  };
}

export function presentDelivery(delivery: Delivery) {
  return {
    delivery_id: delivery.deliveryId,
    destination_id: delivery.destinationId,
    event_id: delivery.eventId,
    event: delivery.event,
    conversation_id: delivery.conversationId,
    is_test: delivery.test,
    status: nameOf(STATUSES, delivery.status),
    attempts: delivery.attempts.map(presentAttempt),
    next_attempt_at: isoTime(delivery.nextAttemptAt) ?? null,
    created_at: isoTime(delivery.createdAt),
  };
}

function presentAttempt(attempt: Attempt) {
  return {
    number: attempt.number,
    started_at: isoTime(attempt.startedAt),
    duration_ms: attempt.durationMs,
    http_status: attempt.httpStatus ?? null,
    error: attempt.error ?? null,
    response_excerpt: attempt.responseExcerpt ?? null,
  };
}

function nameOf(names: Readonly<Record<string, number>>, value: number): string | undefined {
  return Object.keys(names).find((name) => names[name] === value);
}
