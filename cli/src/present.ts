import type { ApiKey, MobileNumber, Owner } from "@parley/proto/parley/account/v1/account.ts";
import type { Delivery, Destination } from "@parley/proto/parley/webhook/v1/webhook.ts";
import { DELIVERY_STATUSES, KEY_STATUSES, nameOf, REQUEST_TYPES, TIERS } from "@parley/shared/api-names";

/** The API's names of an owner's fields. */
export function presentOwner(owner: Owner | undefined) {
  const { ownerId, name, email, tier, rateLimitPerMinute } = given(owner);
  return {
    owner_id: ownerId,
    name,
    email,
    tier: nameOf(TIERS, tier) ?? "unknown",
    rate_limit_per_minute: rateLimitPerMinute,
  };
}

/** The same with the times. */
export function presentOwnerInFull(owner: Owner | undefined) {
  const { createdAt, updatedAt } = given(owner);
  return { ...presentOwner(owner), created_at: time(createdAt), updated_at: time(updatedAt) };
}

export function presentKey(key: ApiKey | undefined) {
  const { keyId, prefix, ...rest } = given(key);
  return { key_id: keyId, prefix, ...keyFields(rest) };
}

/** A key just made: the key itself, shown this once, instead of its prefix. */
export function presentNewKey(key: ApiKey | undefined, apiKey: string) {
  const { keyId, ...rest } = given(key);
  return { key_id: keyId, api_key: apiKey, ...keyFields(rest) };
}

export function presentNumber(number: MobileNumber | undefined) {
  const { mobileNumber, telephonyProvider } = given(number);
  return { mobile_number: mobileNumber, telephony_provider: telephonyProvider };
}

export function presentDestination(destination: Destination | undefined) {
  const { destinationId, ...rest } = given(destination);
  return { destination_id: destinationId, ...destinationFields(rest) };
}

/** A destination just made: with its secret, shown this once. */
export function presentNewDestination(destination: Destination | undefined, secret: string) {
  const { destinationId, ...rest } = given(destination);
  return { destination_id: destinationId, secret, ...destinationFields(rest) };
}

export function presentDelivery(delivery: Delivery | undefined) {
  const { attempts, ...rest } = given(delivery);
  return {
    delivery_id: rest.deliveryId,
    destination_id: rest.destinationId,
    event_id: rest.eventId,
    event: rest.event,
    conversation_id: rest.conversationId,
    is_test: rest.test,
    status: nameOf(DELIVERY_STATUSES, rest.status) ?? "unknown",
    attempts: attempts.map((attempt) => ({
      number: attempt.number,
      started_at: time(attempt.startedAt),
      duration_ms: attempt.durationMs,
      http_status: attempt.httpStatus ?? null,
      error: attempt.error ?? null,
      response_excerpt: attempt.responseExcerpt ?? null,
    })),
    next_attempt_at: time(rest.nextAttemptAt),
    created_at: time(rest.createdAt),
  };
}

function destinationFields(destination: Omit<Destination, "destinationId">) {
  return {
    owner_id: destination.ownerId,
    name: destination.name,
    url: destination.url,
    request_type: nameOf(REQUEST_TYPES, destination.requestType) ?? "unknown",
    status: destination.enabled ? "enabled" : "disabled",
    old_secret_valid_until: time(destination.oldSecretValidUntil),
    created_at: time(destination.createdAt),
    updated_at: time(destination.updatedAt),
  };
}

function keyFields(key: Omit<ApiKey, "keyId" | "prefix">) {
  return {
    owner_id: key.ownerId,
    name: key.name || null,
    scopes: key.scopes,
    status: nameOf(KEY_STATUSES, key.status) ?? "unknown",
    expires_at: time(key.expiresAt),
    created_at: time(key.createdAt),
  };
}

function time(date: Date | undefined): string | null {
  return date ? date.toISOString() : null;
}

/** Messages carry what their responses promise; the types cannot say so. */
function given<T>(message: T | undefined): T {
  if (message === undefined) throw new Error("the service answered with an empty message");
  return message;
}
