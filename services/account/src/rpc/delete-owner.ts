import type { AccountContext, Handler } from "../context.ts";
import { notifyOwnerKeyChanges } from "../store/key-changes.ts";
import { lockOwner, markOwnerDeleted } from "../store/owners.ts";

/** The owner's keys stop at once, the email is free again. */
export function deleteOwner(ctx: AccountContext): Handler<"deleteOwner"> {
  return async ({ ownerId }) => {
    await ctx.db.begin(async (tx) => {
      await lockOwner(tx, ownerId);
      await markOwnerDeleted(tx, ownerId, ctx.clock.now());
      await notifyOwnerKeyChanges(tx, ownerId);
    });
    return {};
  };
}
