import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import { refuseWrongNumbers } from "../batches/new-batch.ts";
import type { OutboundContext } from "../outbound/context.ts";

type Handler = NonNullable<Handlers<typeof VoiceServiceService>["checkCallNumbers"]>;

export function checkCallNumbers(ctx: Pick<OutboundContext, "deniedPrefixes">): Handler {
  return async ({ toMobileNumbers }) => {
    await refuseWrongNumbers(ctx, toMobileNumbers);
    return {};
  };
}
