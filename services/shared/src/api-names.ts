import { Tier } from "@parley/proto/parley/account/v1/account.ts";
import { DeliveryStatus, RequestType } from "@parley/proto/parley/webhook/v1/webhook.ts";

/** What a key may be limited to (decisions.md: Authentication). */
export const SCOPES = [
  "*",
  "agents:read",
  "agents:write",
  "prompts:read",
  "prompts:write",
  "conversations:read",
  "chat",
  "calls",
  "catalogue:read",
] as const;

// The names that the API, the command line and the tables have for the protocol's numbers.

export const TIERS = {
  free: Tier.TIER_FREE,
  pro: Tier.TIER_PRO,
  enterprise: Tier.TIER_ENTERPRISE,
} as const;

export const REQUEST_TYPES = {
  GET: RequestType.REQUEST_TYPE_GET,
  POST: RequestType.REQUEST_TYPE_POST,
  PATCH: RequestType.REQUEST_TYPE_PATCH,
  PUT: RequestType.REQUEST_TYPE_PUT,
} as const;

export const DELIVERY_STATUSES = {
  pending: DeliveryStatus.DELIVERY_STATUS_PENDING,
  delivered: DeliveryStatus.DELIVERY_STATUS_DELIVERED,
  failed: DeliveryStatus.DELIVERY_STATUS_FAILED,
  cancelled: DeliveryStatus.DELIVERY_STATUS_CANCELLED,
} as const;

/** The name of a number, undefined for one that has none: unspecified, or not known to this build. */
export function nameOf<N extends string>(numbers: Readonly<Record<N, number>>, wanted: number): N | undefined {
  for (const name in numbers) if (numbers[name] === wanted) return name;
  return undefined;
}
