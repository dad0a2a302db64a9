import type { DailyContext } from "../../daily/context.ts";
import { handleWebhook } from "../../daily/handle-webhook.ts";
import type { Handler } from "../../feature.ts";

/** Accepts a webhook from Daily, which anyone may send: its signature is checked before anything is done. */
export function handleDailyWebhook(ctx: DailyContext): Handler<"handleDailyWebhook"> {
  return async (webhook, call) => {
    await handleWebhook(ctx, webhook, call.signal);
    return {};
  };
}
