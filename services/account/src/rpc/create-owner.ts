import { ServiceError } from "@parley/shared/errors";
import { newId } from "@parley/shared/ids";
import { checkName } from "@parley/shared/text/name";
import type { AccountContext, Handler } from "../context.ts";
import { fromTier, toOwner } from "../convert.ts";
import { planOf } from "../settings/tiers.ts";
import { insertOwner, isEmailTaken, lockEmail, type OwnerRow } from "../store/owners.ts";
import { checkEmail } from "../text-rules.ts";

/** The tier defaults to free. */
export function createOwner(ctx: AccountContext): Handler<"createOwner"> {
  return async ({ name, email, tier, rateLimitPerMinute }) => {
    checkName("name", name);
    checkEmail(email);
    const plan = planOf(fromTier(tier) ?? "free", rateLimitPerMinute);
    const now = ctx.clock.now();
    const row: OwnerRow = { ownerId: newId("own"), name, email, ...plan, createdAt: now, updatedAt: now };
    await ctx.db.begin(async (tx) => {
      await lockEmail(tx, email);
      if (await isEmailTaken(tx, email)) throw new ServiceError("conflict", "email is already in use by another owner");
      await insertOwner(tx, row);
    });
    return { owner: toOwner(row) };
  };
}
