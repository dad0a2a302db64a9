import {
  type Attempt,
  type Delivery,
  DeliveryStatus,
  type Destination,
  type RequestType,
} from "@parley/proto/parley/webhook/v1/webhook.ts";
import { DELIVERY_STATUSES, nameOf, namesOf, REQUEST_TYPES } from "@parley/shared/domain/api-names";
import { invalid } from "@parley/shared/errors";
import type { DeliveryStatusName } from "./delivery/state.ts";
import { validOld } from "./secrets.ts";
import type { DestinationRow, RequestTypeName } from "./store/destinations.ts";
import type { LoggedAttempt, LoggedDelivery } from "./store/list-deliveries.ts";

/** @throws ServiceError invalid for an unspecified or unknown type */
export function fromRequestType(requestType: RequestType): RequestTypeName {
  return knownName("request_type", REQUEST_TYPES, requestType);
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
    enabled: row.enabled,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    oldSecretValidUntil: old && new Date(old.validUntil),
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
  };
}

function toAttempt(row: LoggedAttempt): Attempt {
  return {
    number: row.number,
    startedAt: row.startedAt,
    durationMs: row.durationMs,
    httpStatus: row.httpStatus ?? undefined,
    error: row.error ?? undefined,
    responseExcerpt: row.responseExcerpt ?? undefined,
  };
}

function knownName<N extends string>(field: string, numbers: Readonly<Record<N, number>>, given: number): N {
  const name = nameOf(numbers, given);
  if (!name) throw invalid(field, `${field} must be one of ${namesOf(numbers).join(", ")}`);
  return name;
}
