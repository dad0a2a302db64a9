import { notFound } from "@parley/shared/errors";
import type { Handler } from "../../../context.ts";
import type { WhatsAppContext } from "../context.ts";

/** Reads no secrets: anyone may ask, by sending a callback to the gateway. */
export function checkConnection(ctx: WhatsAppContext): Handler<"checkWhatsAppConnection"> {
  return async ({ carrierId }, { signal }) => {
    if (await ctx.verifyFewAtOnce(carrierId, signal, () => ctx.connections.has(carrierId))) return {};
    ctx.countRefused("unknown");
    throw notFound("WhatsApp connection");
  };
}
