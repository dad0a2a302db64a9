import { isId } from "@parley/shared/ids";
import type { AccountContext, Handler } from "../context.ts";
import { deleteSession } from "../store/sessions.ts";

/** Succeeds for a session that has already ended. */
export function signOut(ctx: AccountContext): Handler<"signOut"> {
  return async ({ ownerId, sessionId }) => {
    const mayExist = isId("own", ownerId) && isId("ses", sessionId);
    return { ended: mayExist && (await deleteSession(ctx.db, ownerId, sessionId)) };
  };
}
