import type { Owner, Settings } from "@parley/proto/parley/account/v1/account.ts";
import { nameOf, TIERS } from "@parley/shared/domain/api-names";
import { isoTime } from "@parley/shared/domain/present/time";

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

function presentTier({ tier, rateLimitPerMinute }: Owner) {
  return { tier: nameOf(TIERS, tier), rate_limit_per_minute: rateLimitPerMinute };
}
