import type { EventNames, OwnerEvent } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import type { AllowList } from "@parley/shared/egress/allow-list";
import { checkAddress } from "@parley/shared/egress/url";
import { invalid, notFound, ServiceError } from "@parley/shared/errors";
import { isId, isUuid } from "@parley/shared/ids";
import { EVENT_NAMES, type EventName, isEventName } from "@parley/shared/portable/events";
import { isTraceparent } from "@parley/shared/rpc/call";
import { isLonger } from "@parley/shared/text/length";
import { type EventRow, PAYLOAD_SEPARATOR } from "./store/events.ts";

/** Limit per owner, because each event goes to all of them. */
export const DESTINATIONS_MAX = 50;
const URL_LENGTH_MAX = 2048;

/**
 * Checks that requests may go to the address: the part that needs no DNS (docs/api-reference.md#outgoing-requests).
 * @throws ServiceError invalid
 */
export function checkDestinationUrl(url: string, allowedHosts: AllowList): void {
  if (isLonger(url, URL_LENGTH_MAX)) throw invalid("url", `url must be at most ${URL_LENGTH_MAX} characters`);
  // The URL parser drops some of these, so the stored text would differ from the parsed URL.
  if (/[\p{Cc}\s]/u.test(url)) throw invalid("url", "url must not contain spaces or control characters");
  checkAddress("url", url, allowedHosts);
}

/** @throws ServiceError invalid for an unknown event */
export function checkEvent(field: string, event: string): EventName {
  if (!isEventName(event)) throw invalid(field, `${field} must be one of ${EVENT_NAMES.join(", ")}`);
  return event;
}

/** @throws ServiceError invalid unless there is at least one, each is known, and none is there twice */
export function checkEvents({ names }: EventNames): EventName[] {
  if (names.length === 0) throw invalid("events", "events must have at least one event");
  if (new Set(names).size < names.length) throw invalid("events", "events must name each event once");
  return names.map((name, at) => checkEvent(`events.${at}`, name));
}

/** @throws ServiceError invalid for an event that cannot be stored or delivered */
export function readEvent(given: OwnerEvent): EventRow {
  const { ownerId, eventId, event, conversationId, payload, traceparent = null } = given;
  if (!isId("own", ownerId)) throw invalid("owner_id", "owner_id must be the id of an owner");
  if (!isId("evt", eventId)) throw invalid("event_id", "event_id must be the id of an event");
  const name = checkEvent("event", event);
  if (conversationId !== "" && !isUuid(conversationId))
    throw invalid("conversation_id", "conversation_id must be a UUID, or empty");
  if (payload === "" || payload.includes("\0") || payload.includes(PAYLOAD_SEPARATOR))
    throw invalid("payload", "payload must be JSON text");
  // A malformed traceparent is dropped, because it is no reason to lose an event.
  const trace = traceparent !== null && isTraceparent(traceparent) ? traceparent : null;
  return { ownerId, eventId, event: name, conversationId, payload, test: false, traceparent: trace };
}

/** @throws ServiceError not_found for a malformed id, which the database might reject */
export function checkDeliveryId(deliveryId: string): void {
  if (!isId("dlv", deliveryId)) throw notFound("Delivery");
}

/** @throws ServiceError condition */
export function checkEnabled({ enabled }: { enabled: boolean }): void {
  if (!enabled) throw new ServiceError("condition", "Destination is disabled: enable it first");
}
