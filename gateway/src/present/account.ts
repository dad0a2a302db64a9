import type { ApiKey, MobileNumber, Owner, Settings } from "@parley/proto/parley/account/v1/account.ts";
import { KEY_STATUSES, nameOf, TIERS } from "@parley/shared/api-names";
import { isoTime } from "./time.ts";

export function presentOwner(owner: Owner) {
  return {
    owner_id: owner.ownerId,
    name: owner.name,
    email: owner.email,
    ...presentTier(owner),
    created_at: isoTime(owner.createdAt),
  };
}

export function presentSettings(settings: Settings, owner: Owner) {
  return { retention_days: settings.retentionDays, ...presentTier(owner) };
}

export function presentKey(key: ApiKey) {
  return {
    key_id: key.keyId,
    name: key.name || null,
    prefix: key.prefix,
    scopes: key.scopes,
    status: nameOf(KEY_STATUSES, key.status),
    expires_at: isoTime(key.expiresAt) ?? null,
    created_at: isoTime(key.createdAt),
  };
}

/** api.md: Mobile number. */
export function presentNumber({ mobileNumber, telephonyProvider }: MobileNumber) {
  return { mobile_number: mobileNumber, telephony_provider: telephonyProvider };
}

function presentTier({ tier, rateLimitPerMinute }: Owner) {
  return { tier: nameOf(TIERS, tier), rate_limit_per_minute: rateLimitPerMinute };
}
