import {
  type ApiKey,
  KeyStatus,
  type MobileNumber,
  type Owner,
  type Settings,
  Tier,
} from "@parley/proto/parley/account/v1/account.ts";
import { isoTime } from "./time.ts";

const TIERS: Record<Tier, string> = {
  [Tier.TIER_UNSPECIFIED]: "free",
  [Tier.TIER_FREE]: "free",
  [Tier.TIER_PRO]: "pro",
  [Tier.TIER_ENTERPRISE]: "enterprise",
};
const KEY_STATUSES: Record<KeyStatus, string> = {
  [KeyStatus.KEY_STATUS_UNSPECIFIED]: "inactive",
  [KeyStatus.KEY_STATUS_ACTIVE]: "active",
  [KeyStatus.KEY_STATUS_INACTIVE]: "inactive",
  [KeyStatus.KEY_STATUS_EXPIRED]: "expired",
};

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
    status: KEY_STATUSES[key.status],
    expires_at: isoTime(key.expiresAt) ?? null,
    created_at: isoTime(key.createdAt),
  };
}

/** api.md: Mobile number. */
export function presentNumber({ mobileNumber, telephonyProvider }: MobileNumber) {
  return { mobile_number: mobileNumber, telephony_provider: telephonyProvider };
}

function presentTier({ tier, rateLimitPerMinute }: Owner) {
  return { tier: TIERS[tier], rate_limit_per_minute: rateLimitPerMinute };
}
