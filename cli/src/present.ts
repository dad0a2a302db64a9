import type { ApiKey, MobileNumber, Owner } from "@parley/proto/parley/account/v1/account.ts";
import type { Alert } from "@parley/proto/parley/conversation/v1/alert.ts";
import type { Delivery, Destination } from "@parley/proto/parley/webhook/v1/webhook.ts";
import { nameOf, TIERS } from "@parley/shared/domain/api-names";
import {
  presentKey as keyFields,
  presentOwnNumber as numberFields,
  presentKeyWithUse,
  presentProvenNumber as provenNumberFields,
} from "@parley/shared/domain/present/account";
import { presentAlert as alertFields } from "@parley/shared/domain/present/alert";
import { isoTime } from "@parley/shared/domain/present/time";
import {
  presentDelivery as deliveryFields,
  presentDestination as destinationFields,
} from "@parley/shared/domain/present/webhook";

/** An owner's fields, with their names in the API. */
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

/** The same, with the times. */
export function presentOwnerInFull(owner: Owner | undefined) {
  const { createdAt, updatedAt } = given(owner);
  return { ...presentOwner(owner), created_at: isoTime(createdAt) ?? null, updated_at: isoTime(updatedAt) ?? null };
}

// Resources as in the management API, plus their owner: an operator sees every owner's.

export function presentKey(key: ApiKey | undefined) {
  const { key_id, prefix, ...fields } = keyFields(given(key));
  return { key_id, prefix, owner_id: given(key).ownerId, ...fields };
}

/** The same with its last use, to within five minutes. */
export function presentListedKey(key: ApiKey | undefined) {
  const { last_used_at } = presentKeyWithUse(given(key));
  return { ...presentKey(key), last_used_at };
}

/** A new key: shows the key itself this once, instead of its prefix. */
export function presentNewKey(key: ApiKey | undefined, apiKey: string) {
  const { key_id, prefix: _, ...fields } = presentKey(key);
  return { key_id, api_key: apiKey, ...fields };
}

export function presentOwnNumber(number: MobileNumber | undefined) {
  return numberFields(given(number));
}

export function presentProvenNumber(number: MobileNumber | undefined) {
  return provenNumberFields(given(number));
}

export function presentDestination(destination: Destination | undefined) {
  const { destination_id, ...fields } = destinationFields(given(destination));
  return { destination_id, owner_id: given(destination).ownerId, ...fields };
}

/** A new destination: shows its secret this once. */
export function presentNewDestination(destination: Destination | undefined, secret: string) {
  const { destination_id, ...fields } = presentDestination(destination);
  return { destination_id, secret, ...fields };
}

export function presentDelivery(delivery: Delivery | undefined) {
  return deliveryFields(given(delivery));
}

export function presentAlert(alert: Alert | undefined) {
  return alertFields(given(alert));
}

/** Responses always have this message, but the types cannot express that. */
function given<T>(message: T | undefined): T {
  if (message === undefined) throw new Error("the service answered with an empty message");
  return message;
}
