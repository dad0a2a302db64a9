import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { notFound } from "@parley/shared/errors";
import type { Handlers } from "@parley/shared/rpc/server";
import type { OutboundContext } from "../outbound/context.ts";
import { deleteDoNotCall } from "../store/do-not-call.ts";

type Handler = NonNullable<Handlers<typeof VoiceServiceService>["removeDoNotCall"]>;

export function removeDoNotCall(ctx: OutboundContext): Handler {
  return async ({ ownerId, mobileNumber }) => {
    if (!(await deleteDoNotCall(ctx.db, ownerId, mobileNumber))) throw notFound("Number on the do-not-call list");
    return {};
  };
}
