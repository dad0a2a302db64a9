import { ServiceError } from "@parley/shared/errors";
import { isSameSecret } from "@parley/shared/sealing";
import type { Handler } from "../../../context.ts";
import type { WhatsAppContext } from "../context.ts";

/** Meta's handshake for the address of the callbacks. */
export function verifyWebhook(ctx: WhatsAppContext): Handler<"verifyWhatsAppWebhook"> {
  return async ({ carrierId, verifyToken }, { signal }) => {
    const connection = await ctx.verifyFewAtOnce(carrierId, signal, () => ctx.connections.find(carrierId));
    if (!connection || connection.verifyToken === "" || !isSameSecret(verifyToken, connection.verifyToken))
      throw new ServiceError("forbidden", "The verify token does not belong to a WhatsApp connection");
    return {};
  };
}
