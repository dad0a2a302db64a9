import { ServiceError } from "@parley/shared/errors";
import { isUuid } from "@parley/shared/ids";
import type { Handler } from "../feature.ts";
import { claimWebCall, forgetGiven, releaseWebCall } from "../store/web-calls.ts";
import { tokenDigest } from "../token.ts";
import type { WebCallContext } from "../web-calls/context.ts";

export function connectWebCall(ctx: WebCallContext): Handler<"connectWebCall"> {
  return async ({ conversationId, token, offer }, rpc) => {
    const claim = { conversationId, tokenDigest: tokenDigest(token), now: ctx.clock.now() };
    const call = isUuid(conversationId) ? await claimWebCall(ctx.db, claim) : null;
    if (!call) throw wrongToken();
    const connected = ctx.browsers.connect(call, offer);
    const answer = await connected.catch(async (error) => {
      await releaseWebCall(ctx.db, call.ownerId, call.conversationId);
      throw error;
    });
    // The call has begun, whether or not this succeeds; what is left goes with the row.
    await forgetGiven(ctx.db, call.ownerId, call.conversationId).catch((err: unknown) =>
      rpc.log.warn({ err }, "what a web call was created with could not be forgotten"),
    );
    return { answer };
  };
}

/** The same answer in every case, so that guesses reveal nothing. */
export function wrongToken(): ServiceError {
  return new ServiceError("unauthenticated", "The token is wrong, has expired or was used: make another web call");
}
