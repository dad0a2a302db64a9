import { isUuid } from "@parley/shared/ids";
import type { Handler } from "../feature.ts";
import { findWebCallOwner } from "../store/web-calls.ts";
import { tokenDigest } from "../token.ts";
import type { WebCallContext } from "../web-calls/context.ts";
import { wrongToken } from "./connect-web-call.ts";

export function endWebCall(ctx: WebCallContext): Handler<"endWebCall"> {
  return async ({ conversationId, token }) => {
    const wanted = { conversationId, tokenDigest: tokenDigest(token) };
    const ownerId = isUuid(conversationId) ? await findWebCallOwner(ctx.db, wanted) : null;
    if (ownerId === null) throw wrongToken();
    await ctx.signals.tell({ ownerId, conversationId }, "hang_up");
    return {};
  };
}
