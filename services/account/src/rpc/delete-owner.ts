import type { AccountContext, Handler } from "../context.ts";
import { promiseRetention } from "../settings/tell-retention.ts";
import { notifyOwnerKeyChanges } from "../store/key-changes.ts";
import { lockOwner, markOwnerDeleted } from "../store/owners.ts";
import { deletePassword } from "../store/passwords.ts";
import { deleteSessionsOf } from "../store/sessions.ts";
import { forgetSettings } from "../store/settings.ts";

/** The owner's keys and sessions stop working at once, and the email can be reused. */
export function deleteOwner(ctx: AccountContext): Handler<"deleteOwner"> {
  return async ({ ownerId }) => {
    await ctx.db.begin(async (tx) => {
      await lockOwner(tx, ownerId);
      const now = ctx.clock.now();
      await markOwnerDeleted(tx, ownerId, now);
      await deletePassword(tx, ownerId);
      await deleteSessionsOf(tx, ownerId);
      if (await forgetSettings(tx, ownerId, now)) await promiseRetention(tx, ownerId, now);
      await notifyOwnerKeyChanges(tx, ownerId);
    });
    return {};
  };
}
