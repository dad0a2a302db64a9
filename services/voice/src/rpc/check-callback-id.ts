import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { notFound } from "@parley/shared/errors";
import type { Handlers } from "@parley/shared/rpc/server";
import { type CallbackContext, checkTarget } from "../carriers/callbacks/handle-callback.ts";
import type { DailyContext } from "../daily/context.ts";
import { checkConnection } from "../daily/handle-webhook.ts";

/** Tells whether a callback's id exists, before anyone reads its body. */
export function checkCallbackId(
  carriers: CallbackContext,
  daily: DailyContext,
): NonNullable<Handlers<typeof VoiceServiceService>["checkCallbackId"]> {
  return async ({ provider, id }, { signal }) => {
    if (provider === "daily") await checkConnection(daily, id, signal);
    else if (provider === "twilio" || provider === "plivo") await checkTarget(carriers, { provider, id }, signal);
    else throw notFound("Provider");
    return {};
  };
}
