import type { AccountContext, Handler } from "../context.ts";
import { toSession } from "../convert.ts";
import { hasEnded } from "../sign-in/session.ts";
import { listSessionRows } from "../store/sessions.ts";

/** Sign-ins are limited, so an owner has few sessions; older ones beyond this number are not shown. */
const SHOWN_MAX = 200;

export function listSessions(ctx: AccountContext): Handler<"listSessions"> {
  return async ({ ownerId }) => {
    const rows = await listSessionRows(ctx.db, ownerId, SHOWN_MAX);
    const now = ctx.clock.now();
    return { sessions: rows.filter((row) => !hasEnded(row, now)).map(toSession) };
  };
}
