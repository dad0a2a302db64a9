import { invalid } from "@parley/shared/errors";
import type { AccountContext, Handler } from "../context.ts";
import { toSession } from "../convert.ts";
import { beginSession } from "../sign-in/begin-session.ts";
import { newDeviceToken } from "../sign-in/device.ts";
import { checkPassword } from "../sign-in/password.ts";
import { getOwner, lockOwner } from "../store/owners.ts";
import { findPasswordHash, storePassword } from "../store/passwords.ts";
import { deleteSessionsOf } from "../store/sessions.ts";

/** Ends every session, including the current one, and starts a new one. */
export function changePassword(ctx: AccountContext): Handler<"changePassword"> {
  return async ({ ownerId, currentPassword, newPassword, userAgent }) => {
    checkPassword("new_password", newPassword, await getOwner(ctx.db, ownerId));
    const known = await findPasswordHash(ctx.db, ownerId);
    if (!(await ctx.passwords.verify(currentPassword, known))) throw wrongPassword();
    const passwordHash = await ctx.passwords.hash(newPassword);
    const { session, token } = await ctx.db.begin(async (tx) => {
      await lockOwner(tx, ownerId);
      if ((await findPasswordHash(tx, ownerId)) !== known) throw wrongPassword();
      await storePassword(tx, { ownerId, passwordHash }, ctx.clock.now());
      await deleteSessionsOf(tx, ownerId);
      return beginSession(tx, ownerId, userAgent, ctx.clock.now());
    });
    return { session: toSession(session), token, deviceToken: newDeviceToken({ ownerId, passwordHash }) };
  };
}

function wrongPassword() {
  return invalid("current_password", "current_password is wrong");
}
