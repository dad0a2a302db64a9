import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { DailyContext } from "../../daily/context.ts";
import { handleWebhook } from "../../daily/handle-webhook.ts";

/** Accepts a webhook from Daily, which anyone may send: its signature is checked before anything is done. */
export function handleDailyWebhook(
  ctx: DailyContext,
): NonNullable<Handlers<typeof VoiceServiceService>["handleDailyWebhook"]> {
  return async (webhook, call) => {
    await handleWebhook(ctx, webhook, call.signal);
    return {};
  };
}
