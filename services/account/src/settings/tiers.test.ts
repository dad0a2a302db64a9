import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Plan, TierName } from "../store/owners.ts";
import { changePlan, planOf, rateLimitOf } from "./tiers.ts";

const FREE: Plan = { tier: "free", customRateLimit: null };
const AGREED: Plan = { tier: "enterprise", customRateLimit: 700 };

test.each<[TierName, number | undefined, number]>([
  ["free", undefined, 100],
  ["pro", undefined, 500],
  ["enterprise", 1, 1],
  ["enterprise", 1_000_000, 1_000_000],
])("the %s tier with a requested limit of %p has %d requests a minute", (tier, asked, limit) => {
  expect(rateLimitOf(planOf(tier, asked))).toBe(limit);
});

test.each<[TierName, number | undefined]>([
  ["free", 100],
  ["pro", 501],
  ["enterprise", undefined],
  ["enterprise", 0],
  ["enterprise", -5],
  ["enterprise", 1_000_001],
])("the %s tier with %p is refused", (tier, asked) => {
  expect(() => planOf(tier, asked)).toThrow(/^rate_limit_per_minute /);
});

test.each<[Plan, { tier?: TierName; rateLimitPerMinute?: number }, Plan]>([
  [FREE, {}, FREE],
  [AGREED, {}, AGREED],
  [AGREED, { tier: "enterprise" }, AGREED],
  [AGREED, { rateLimitPerMinute: 5 }, { tier: "enterprise", customRateLimit: 5 }],
  [AGREED, { tier: "free" }, FREE],
  [FREE, { tier: "enterprise", rateLimitPerMinute: 700 }, AGREED],
])("%j changed by %j is %j", (current, { tier, rateLimitPerMinute }, next) => {
  expect(changePlan(current, { tier, rateLimitPerMinute })).toEqual(next);
});

test("a change without fields changes nothing", () => {
  fc.assert(
    fc.property(
      fc.constantFrom<TierName>("free", "pro", "enterprise"),
      fc.integer({ min: 1, max: 1_000_000 }),
      (tier, limit) => {
        const plan = planOf(tier, tier === "enterprise" ? limit : undefined);
        expect(changePlan(plan, { tier: undefined, rateLimitPerMinute: undefined })).toEqual(plan);
      },
    ),
  );
});
