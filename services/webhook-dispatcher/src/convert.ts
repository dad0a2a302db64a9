import {
  type Attempt,
  type Delivery,
  DeliveryStatus,
  type Destination,
  type RequestType,
  type RetrySchedule,
} from "@parley/proto/parley/webhook/v1/webhook.ts";
import { DELIVERY_STATUSES, nameOf, namesOf, REQUEST_TYPES, RETRY_SCHEDULES } from "@parley/shared/domain/api-names";
import { invalid } from "@parley/shared/errors";
import { validOld } from "@parley/shared/signing-secrets";
import { payloadFor } from "./delivery/url-payload.ts";
import type { AttemptRequest, DeliveryStatusName } from "./store/deliveries.ts";
import type { DestinationRow, RequestTypeName, RetryScheduleName } from "./store/destinations.ts";
import type { LoggedAttempt, LoggedDelivery } from "./store/list-deliveries.ts";

/** @throws ServiceError invalid for an unspecified or unknown type */
export function fromRequestType(requestType: RequestType): RequestTypeName {
  return knownName("request_type", REQUEST_TYPES, requestType);
}

/** @throws ServiceError invalid for an unspecified or unknown schedule */
export function fromRetrySchedule(schedule: RetrySchedule): RetryScheduleName {
  return knownName("retry_schedule", RETRY_SCHEDULES, schedule);
}

/** Returns null for an unspecified status. @throws ServiceError invalid for an unknown one */
export function fromDeliveryStatus(status: DeliveryStatus): DeliveryStatusName | null {
  return status === DeliveryStatus.DELIVERY_STATUS_UNSPECIFIED ? null : knownName("status", DELIVERY_STATUSES, status);
}

export function toDestination(row: DestinationRow, now: Date): Destination {
  const [old] = validOld(row, now);
  return {
    destinationId: row.destinationId,
    ownerId: row.ownerId,
    name: row.name,
    url: row.url,
    requestType: REQUEST_TYPES[row.requestType],
    retrySchedule: RETRY_SCHEDULES[row.retrySchedule],
    enabled: row.enabled,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    oldSecretValidUntil: old && new Date(old.validUntil),
    events: row.events,
  };
}

export function toDelivery(row: LoggedDelivery): Delivery {
  return {
    deliveryId: row.deliveryId,
    destinationId: row.destinationId,
    eventId: row.eventId,
    event: row.event,
    conversationId: row.conversationId,
    status: DELIVERY_STATUSES[row.status],
    attempts: row.log.map(toAttempt),
    nextAttemptAt: row.nextAttemptAt ?? undefined,
    createdAt: row.createdAt,
    test: row.test,
    payload: sentPayload(row),
  };
}

/** The payload as the last attempt sent it: a GET leaves out what is too long for an address. */
function sentPayload({ payload, log }: LoggedDelivery): string | undefined {
  const last = log.at(-1)?.request;
  if (payload === null || !last) return payload ?? undefined;
  return payloadFor((JSON.parse(last) as AttemptRequest).method, payload);
}

function toAttempt(row: LoggedAttempt): Attempt {
  return {
    number: row.number,
    startedAt: row.startedAt,
    durationMs: row.durationMs,
    httpStatus: row.httpStatus ?? undefined,
    error: row.error ?? undefined,
    responseExcerpt: row.responseExcerpt ?? undefined,
    request: row.request ? toRequest(JSON.parse(row.request)) : undefined,
  };
}

function toRequest({ method, url, headers }: AttemptRequest) {
  return { method: REQUEST_TYPES[method], url, headers };
}

function knownName<N extends string>(field: string, numbers: Readonly<Record<N, number>>, given: number): N {
  const name = nameOf(numbers, given);
  if (!name) throw invalid(field, `${field} must be one of ${namesOf(numbers).join(", ")}`);
  return name;
}
