import type { AccountContext, Handler } from "../context.ts";
import { checkPassword } from "../sign-in/password.ts";
import { getOwner, lockOwner } from "../store/owners.ts";
import { storePassword } from "../store/passwords.ts";
import { deleteSessionsOf } from "../store/sessions.ts";

/** Ends every session. */
export function setPassword(ctx: AccountContext): Handler<"setPassword"> {
  return async ({ ownerId, password }) => {
    checkPassword("password", password, await getOwner(ctx.db, ownerId));
    const passwordHash = await ctx.passwords.hash(password);
    await ctx.db.begin(async (tx) => {
      await lockOwner(tx, ownerId);
      await storePassword(tx, { ownerId, passwordHash }, ctx.clock.now());
      await deleteSessionsOf(tx, ownerId);
    });
    return {};
  };
}
