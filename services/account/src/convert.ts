import {
  type ApiKey,
  type Carrier,
  CarrierSettings,
  type KeyGrant,
  type MobileNumber,
  type Owner,
  type Secret,
  type Session,
  type Settings,
  Tier,
} from "@parley/proto/parley/account/v1/account.ts";
import { nameOf, namesOf, TIERS } from "@parley/shared/domain/api-names";
import { invalid } from "@parley/shared/errors";
import { keyStatus } from "./keys/key-state.ts";
import { RETENTION_DAYS } from "./settings/retention.ts";
import { rateLimitOf } from "./settings/tiers.ts";
import { expiryOf } from "./sign-in/session.ts";
import type { GrantRow, KeyRow } from "./store/api-keys.ts";
import type { CarrierRow } from "./store/carriers.ts";
import type { NumberRow } from "./store/mobile-numbers.ts";
import type { OwnerRow, TierName } from "./store/owners.ts";
import type { SecretRow } from "./store/secrets.ts";
import type { SessionRow } from "./store/sessions.ts";
import type { SettingsRow } from "./store/settings.ts";

/** The tier in a message, or undefined when it is unspecified. @throws ServiceError invalid for an unknown tier */
export function fromTier(tier: Tier | undefined): TierName | undefined {
  if (tier === undefined || tier === Tier.TIER_UNSPECIFIED) return undefined;
  const name = nameOf(TIERS, tier);
  if (!name) throw invalid("tier", `tier must be one of ${namesOf(TIERS).join(", ")}`);
  return name;
}

export function toOwner(row: OwnerRow): Owner {
  return {
    ownerId: row.ownerId,
    name: row.name,
    email: row.email,
    tier: TIERS[row.tier],
    rateLimitPerMinute: rateLimitOf(row),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

export function toApiKey(row: KeyRow, now: Date): ApiKey {
  return {
    keyId: row.keyId,
    ownerId: row.ownerId,
    name: row.name ?? "",
    prefix: row.prefix,
    scopes: row.scopes,
    status: keyStatus(row, now),
    expiresAt: row.expiresAt ?? undefined,
    createdAt: row.createdAt,
    lastUsedAt: row.lastUsedAt ?? undefined,
  };
}

export function toGrant(row: GrantRow, now: Date): KeyGrant {
  return {
    keyId: row.keyId,
    ownerId: row.ownerId,
    scopes: row.scopes,
    status: keyStatus(row, now),
    expiresAt: row.expiresAt ?? undefined,
    rateLimitPerMinute: rateLimitOf(row),
  };
}

export function toSession(row: SessionRow): Session {
  const { sessionId, ownerId, createdAt, lastUsedAt, userAgent } = row;
  return { sessionId, ownerId, createdAt, expiresAt: expiryOf(row), lastUsedAt, userAgent };
}

/** With the defaults of what the owner has not chosen. */
export function toSettings({ retentionDays, timezone }: SettingsRow): Settings {
  return { retentionDays: retentionDays ?? RETENTION_DAYS.default, timezone: timezone ?? undefined };
}

export function toMobileNumber(row: NumberRow): MobileNumber {
  return {
    mobileNumber: row.mobileNumber,
    telephonyProvider: row.telephonyProvider,
    carrierId: row.carrierId ?? undefined,
    provenBy: row.provenBy ?? undefined,
    provenAt: row.provenAt ?? undefined,
    replacedAt: row.replacedAt ?? undefined,
    replacesAt: row.replacesAt ?? undefined,
  };
}

export function toSecret({ name, version, createdBy, createdAt, updatedAt }: SecretRow): Secret {
  return { name, version, createdBy, createdAt, updatedAt };
}

/** With masks instead of secrets. */
export function toCarrier({ ownerId, carrierId, provider, settings, createdAt }: CarrierRow): Carrier {
  return { ownerId, carrierId, provider, settings: CarrierSettings.fromPartial(settings), createdAt };
}
