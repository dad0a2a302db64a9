import { isSure } from "@parley/shared/clock";
import { ServiceError } from "@parley/shared/errors";
import type { AccountContext, Handler } from "../context.ts";
import { toOwner, toSession } from "../convert.ts";
import { beginSession } from "../sign-in/begin-session.ts";
import { newDeviceToken } from "../sign-in/device.ts";
import { unusedSince } from "../sign-in/session.ts";
import { lockOwner } from "../store/owners.ts";
import { findPasswordByEmail, findPasswordHash } from "../store/passwords.ts";
import { deleteUnusedSessions } from "../store/sessions.ts";
import { checkEmail } from "../text-rules.ts";

/** The caller limits attempts, because this service does not see client addresses. */
export function signIn(ctx: AccountContext): Handler<"signIn"> {
  return async ({ email, password, userAgent }) => {
    checkEmail(email);
    const known = await findPasswordByEmail(ctx.db, email);
    const isRight = await ctx.passwords.verify(password, known?.passwordHash ?? null);
    if (!known || !isRight) throw wrong();
    const now = ctx.clock.now();
    if (isSure(ctx.clock)) await deleteUnusedSessions(ctx.db, unusedSince(now));
    const { owner, session, token } = await ctx.db.begin(async (tx) => {
      const locked = await lockOwner(tx, known.ownerId);
      // Read under the lock: otherwise a concurrent password change would leave this session alive.
      if ((await findPasswordHash(tx, known.ownerId)) !== known.passwordHash) throw wrong();
      return { owner: locked, ...(await beginSession(tx, known.ownerId, userAgent, now)) };
    });
    return { owner: toOwner(owner), session: toSession(session), token, deviceToken: newDeviceToken(known) };
  };
}

function wrong(): ServiceError {
  return new ServiceError("unauthenticated", "Invalid email or password");
}
