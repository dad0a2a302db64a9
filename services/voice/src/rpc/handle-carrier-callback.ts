import { notFound } from "@parley/shared/errors";
import { type CallbackContext, handleCallback } from "../carriers/callbacks/handle-callback.ts";
import type { Handler } from "../feature.ts";

/** Accepts a carrier's callback, which anyone may send: its signature is checked before anything is done. */
export function handleCarrierCallback(ctx: CallbackContext): Handler<"handleCarrierCallback"> {
  return async ({ provider, id, event, form, signatures, nonce }, call) => {
    if (provider !== "twilio" && provider !== "plivo") throw notFound("Carrier");
    const callback = { provider, id, event, form: new URLSearchParams(form), signatures, nonce } as const;
    return { document: await handleCallback(ctx, callback, call.signal) };
  };
}
