import { ServiceError } from "@parley/shared/errors";
import { isSameSecret } from "@parley/shared/sealing";
import type { Handler, MessagingContext } from "../context.ts";

/** Meta's handshake for the address of the callbacks. */
export function verifyWhatsAppWebhook(ctx: MessagingContext): Handler<"verifyWhatsAppWebhook"> {
  return async ({ carrierId, verifyToken }, { signal }) => {
    const connection = await ctx.verifyFewAtOnce(carrierId, signal, () => ctx.connections.find(carrierId));
    if (!connection || connection.verifyToken === "" || !isSameSecret(verifyToken, connection.verifyToken))
      throw new ServiceError("forbidden", "The verify token does not belong to a WhatsApp connection");
    return {};
  };
}
