import {
  type ApiKey,
  KeyStatus,
  type MobileNumber,
  type Owner,
  Tier,
} from "@parley/proto/parley/account/v1/account.ts";

/** The tiers as the command line writes them. */
export const TIERS = {
  free: Tier.TIER_FREE,
  pro: Tier.TIER_PRO,
  enterprise: Tier.TIER_ENTERPRISE,
} as const;

const STATUSES: Record<KeyStatus, string> = {
  [KeyStatus.KEY_STATUS_UNSPECIFIED]: "unknown",
  [KeyStatus.KEY_STATUS_ACTIVE]: "active",
  [KeyStatus.KEY_STATUS_INACTIVE]: "inactive",
  [KeyStatus.KEY_STATUS_EXPIRED]: "expired",
};

/** The API's names of an owner's fields. */
export function presentOwner(owner: Owner | undefined) {
  const { ownerId, name, email, tier, rateLimitPerMinute } = given(owner);
  return { owner_id: ownerId, name, email, tier: tierName(tier), rate_limit_per_minute: rateLimitPerMinute };
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

function keyFields(key: Omit<ApiKey, "keyId" | "prefix">) {
  return {
    owner_id: key.ownerId,
    name: key.name || null,
    scopes: key.scopes,
    status: STATUSES[key.status],
    expires_at: time(key.expiresAt),
    created_at: time(key.createdAt),
  };
}

function tierName(tier: Tier): string {
  return Object.entries(TIERS).find(([, value]) => value === tier)?.[0] ?? "unknown";
}

function time(date: Date | undefined): string | null {
  return date ? date.toISOString() : null;
}

/** Messages carry what their responses promise; the types cannot say so. */
function given<T>(message: T | undefined): T {
  if (message === undefined) throw new Error("the account service answered with an empty message");
  return message;
}
