import { checkName } from "@parley/shared/text/name";
import type { AccountContext, Handler } from "../context.ts";
import { fromTier, toOwner } from "../convert.ts";
import { changePlan } from "../settings/tiers.ts";
import { notifyOwnerKeyChanges } from "../store/key-changes.ts";
import { lockOwner, updateOwner as updateOwnerRow } from "../store/owners.ts";

/** Fields left out stay unchanged. A changed tier or limit applies to the owner's keys at once. */
export function updateOwner(ctx: AccountContext): Handler<"updateOwner"> {
  return async ({ ownerId, name, tier, rateLimitPerMinute }) => {
    if (name !== undefined) checkName("name", name);
    const change = { tier: fromTier(tier), rateLimitPerMinute };
    const row = await ctx.db.begin(async (tx) => {
      const current = await lockOwner(tx, ownerId);
      const plan = changePlan(current, change);
      const next = { ...current, ...plan, name: name ?? current.name, updatedAt: ctx.clock.now() };
      await updateOwnerRow(tx, next);
      await notifyOwnerKeyChanges(tx, ownerId);
      return next;
    });
    return { owner: toOwner(row) };
  };
}
