import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { isUuid } from "@parley/shared/ids";
import type { Handlers } from "@parley/shared/rpc/server";
import { findWebCallOwner } from "../store/web-calls.ts";
import { tokenDigest } from "../token.ts";
import type { WebCallContext } from "../web-calls/context.ts";
import { wrongToken } from "./connect-web-call.ts";

export function endWebCall(ctx: WebCallContext): NonNullable<Handlers<typeof VoiceServiceService>["endWebCall"]> {
  return async ({ conversationId, token }) => {
    const wanted = { conversationId, tokenDigest: tokenDigest(token) };
    const ownerId = isUuid(conversationId) ? await findWebCallOwner(ctx.db, wanted) : null;
    if (ownerId === null) throw wrongToken();
    await ctx.signals.tell({ ownerId, conversationId }, "hang_up");
    return {};
  };
}
