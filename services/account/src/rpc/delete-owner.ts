import { promiseRestore } from "../carriers/restore-numbers.ts";
import type { AccountContext, Handler } from "../context.ts";
import { promiseDeletion } from "../owners/tell-deletion.ts";
import { promiseSettings } from "../settings/tell-settings.ts";
import { markAllDisconnected } from "../store/carriers.ts";
import { notifyOwnerKeyChanges } from "../store/key-changes.ts";
import { deleteImportedNumbers } from "../store/mobile-numbers.ts";
import { lockOwner, markOwnerDeleted } from "../store/owners.ts";
import { deletePassword } from "../store/passwords.ts";
import { deleteSessionsOf } from "../store/sessions.ts";
import { forgetSettings } from "../store/settings.ts";

/**
 * The owner's keys and sessions stop working at once, and the email can be reused. Imported numbers get their earlier settings
 * at their carriers back. The services are told, and delete what they keep. The carriers' credentials are deleted when neither
 * needs them anymore.
 */
export function deleteOwner(ctx: AccountContext): Handler<"deleteOwner"> {
  return async ({ ownerId }) => {
    await ctx.db.begin(async (tx) => {
      await lockOwner(tx, ownerId);
      const now = ctx.clock.now();
      await markOwnerDeleted(tx, ownerId, now);
      await deletePassword(tx, ownerId);
      await deleteSessionsOf(tx, ownerId);
      if (await forgetSettings(tx, ownerId, now)) await promiseSettings(tx, ownerId, now);
      await notifyOwnerKeyChanges(tx, ownerId);
      for (const number of await deleteImportedNumbers(tx, ownerId)) await promiseRestore(tx, number, now);
      await markAllDisconnected(tx, ownerId, now);
      await promiseDeletion(tx, ownerId, now);
    });
    return {};
  };
}
