import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { pageOf } from "@parley/shared/page";
import type { Handlers } from "@parley/shared/rpc/server";
import type { OutboundContext } from "../outbound/context.ts";
import { listDoNotCall as listNumbers } from "../store/do-not-call.ts";

type Handler = NonNullable<Handlers<typeof VoiceServiceService>["listDoNotCall"]>;

export function listDoNotCall(ctx: OutboundContext): Handler {
  return async ({ ownerId, page }) => listNumbers(ctx.db, ownerId, pageOf(page));
}
