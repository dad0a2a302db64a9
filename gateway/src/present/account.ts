import type { Owner, Session, Settings } from "@parley/proto/parley/account/v1/account.ts";
import { nameOf, TIERS } from "@parley/shared/domain/api-names";
import { presentSession } from "@parley/shared/domain/present/account";
import { isoTime } from "@parley/shared/domain/present/time";
import { SESSION_REQUESTS_PER_MINUTE } from "../auth/identify.ts";

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
  return {
    retention_days: settings.retentionDays,
    timezone: settings.timezone ?? null,
    ...presentTier(owner),
    session_rate_limit_per_minute: SESSION_REQUESTS_PER_MINUTE,
  };
}

function presentTier({ tier, rateLimitPerMinute }: Owner) {
  return { tier: nameOf(TIERS, tier), rate_limit_per_minute: rateLimitPerMinute };
}

/** A session as its owner sees it. @param currentId the id of the requesting session */
export function presentManagedSession(session: Session, currentId: string) {
  const { session_id, ...fields } = presentSession(session);
  return { session_id, is_current: session_id === currentId, ...fields };
}
