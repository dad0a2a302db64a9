import type { AccountContext, Handler } from "../context.ts";
import { notifyOwnerKeyChanges } from "../store/key-changes.ts";
import { lockOwner, markOwnerDeleted } from "../store/owners.ts";
import { deletePassword } from "../store/passwords.ts";
import { deleteSessionsOf } from "../store/sessions.ts";

/** The owner's keys and sessions stop at once, the email is free again. */
export function deleteOwner(ctx: AccountContext): Handler<"deleteOwner"> {
  return async ({ ownerId }) => {
    await ctx.db.begin(async (tx) => {
      await lockOwner(tx, ownerId);
      await markOwnerDeleted(tx, ownerId, ctx.clock.now());
      await deletePassword(tx, ownerId);
      await deleteSessionsOf(tx, ownerId);
      await notifyOwnerKeyChanges(tx, ownerId);
    });
    return {};
  };
}
