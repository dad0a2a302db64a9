import type { AccountContext, Handler } from "../context.ts";
import { toSession } from "../convert.ts";
import { checkDigest } from "../digest.ts";
import { isUseNews } from "../last-use.ts";
import { hasEnded } from "../sign-in/session.ts";
import { findSession, noteSessionUse } from "../store/sessions.ts";

/** Using a session keeps it alive. */
export function authenticateSession(ctx: AccountContext): Handler<"authenticateSession"> {
  return async ({ digest }) => {
    checkDigest(digest);
    const now = ctx.clock.now();
    const row = await findSession(ctx.db, digest);
    if (!row || hasEnded(row, now)) return { session: undefined };
    if (isUseNews(row.lastUsedAt, now)) await noteSessionUse(ctx.db, row, now);
    return { session: toSession(row) };
  };
}
