import { invalid } from "@parley/shared/errors";
import type { Plan, TierName } from "../store/owners.ts";

/** Requests a minute for each key of an owner, or the bounds of a number agreed with the owner (docs/api-reference.md#rate-limits). */
const RATE_LIMITS = {
  free: 100,
  pro: 500,
  enterprise: { min: 1, max: 1_000_000 },
} as const satisfies Record<TierName, unknown>;

interface PlanChange {
  tier: TierName | undefined;
  rateLimitPerMinute: number | undefined;
}

/** @throws ServiceError invalid when a limit is missing, out of bounds, or given for a tier with a fixed limit */
export function planOf(tier: TierName, rateLimitPerMinute: number | undefined): Plan {
  const limit = RATE_LIMITS[tier];
  if (typeof limit === "number") {
    if (rateLimitPerMinute === undefined) return { tier, customRateLimit: null };
    throw invalid(
      "rate_limit_per_minute",
      `rate_limit_per_minute is for the enterprise tier only. The ${tier} tier has ${limit}.`,
    );
  }
  const rule = `a whole number from ${limit.min} to ${limit.max}`;
  if (rateLimitPerMinute === undefined) {
    throw invalid("rate_limit_per_minute", `rate_limit_per_minute is required for the ${tier} tier: ${rule}`);
  }
  if (rateLimitPerMinute < limit.min || rateLimitPerMinute > limit.max) {
    throw invalid("rate_limit_per_minute", `rate_limit_per_minute must be ${rule}`);
  }
  return { tier, customRateLimit: rateLimitPerMinute };
}

/** The plan after a change; a custom limit stays while the tier does. @throws ServiceError as `planOf` does */
export function changePlan(current: Plan, { tier = current.tier, rateLimitPerMinute }: PlanChange): Plan {
  const agreed = tier === current.tier ? current.customRateLimit : null;
  return planOf(tier, rateLimitPerMinute ?? agreed ?? undefined);
}

export function rateLimitOf({ tier, customRateLimit }: Plan): number {
  const limit = RATE_LIMITS[tier];
  return typeof limit === "number" ? limit : (customRateLimit ?? limit.min);
}
