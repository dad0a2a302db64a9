import type { HandleWhatsAppCallbackRequest } from "@parley/proto/parley/messaging/v1/messaging_service.ts";
import { notFound, ServiceError } from "@parley/shared/errors";
import type { Handler } from "../../../context.ts";
import { takeNews } from "../../../threads/take-news.ts";
import type { WhatsAppConnection } from "../connections.ts";
import type { WhatsAppContext } from "../context.ts";
import { type Notification, readNotifications } from "../notification.ts";
import { isSigned } from "../signature.ts";

/**
 * Bytes of a callback that count as one message towards the owner's pace: reading 3 MB takes 50 ms, whatever is in them. A callback
 * with a message has about 1 KB.
 */
const BYTES_AS_ONE = 16 * 1024;

export function handleCallback(ctx: WhatsAppContext): Handler<"handleWhatsAppCallback"> {
  return async (callback, { signal }) => {
    const connection = await ctx.verifyFewAtOnce(callback.carrierId, signal, () => verify(ctx, callback));
    const { ownerId } = connection;
    await ctx.intake.pace(ownerId, Math.floor(callback.body.length / BYTES_AS_ONE), signal);
    const read = readNotifications(callback.body);
    if (!read) throw new ServiceError("condition", "The request body is not valid JSON");
    const notifications = read.map((notification) => ({
      ...notification,
      messages: ctx.intake.withinPace(ownerId, notification.messages, signal),
    }));
    const items = notifications.reduce((sum, { messages, statuses }) => sum + messages.length + statuses.length, 0);
    await ctx.intake.pace(ownerId, items, signal);
    await ctx.intake.fewAtOnce(ownerId, signal, () => take(ctx, connection, notifications));
    return {};
  };
}

/** @throws ServiceError not_found, forbidden */
async function verify(
  ctx: WhatsAppContext,
  { carrierId, body, signature }: HandleWhatsAppCallbackRequest,
): Promise<WhatsAppConnection> {
  const connection = await ctx.connections.find(carrierId);
  if (!connection) throw refused(ctx, "unknown", notFound("WhatsApp connection"));
  if (isSigned(body, signature, connection.appSecret)) return connection;
  const wrong = "X-Hub-Signature-256 is not the signature of this body by the app's secret";
  throw refused(ctx, "signature", new ServiceError("forbidden", wrong));
}

/** @throws ServiceError rate_limited */
async function take(
  ctx: WhatsAppContext,
  connection: WhatsAppConnection,
  notifications: readonly Notification[],
): Promise<void> {
  const meant = await connectionsOf(ctx, connection, notifications);
  for (const notification of notifications) {
    const number = meant.get(notification.phoneNumberId);
    // A number that the owner has not connected: the app has more numbers than Parley.
    if (number) await takeNews(ctx, ctx.channel, number, notification);
  }
}

/** The owner's connections that a callback is about, looked up once, because a callback may name thousands of numbers. */
async function connectionsOf(
  { connections }: WhatsAppContext,
  connection: WhatsAppConnection,
  notifications: readonly Notification[],
): Promise<Map<string, WhatsAppConnection>> {
  const others = new Set(notifications.map(({ phoneNumberId }) => phoneNumberId));
  others.delete(connection.phoneNumberId);
  const found = others.size > 0 ? await connections.ofNumbers(connection.ownerId, others) : [];
  return new Map([...found, [connection.phoneNumberId, connection]]);
}

function refused(ctx: WhatsAppContext, reason: "unknown" | "signature", error: ServiceError): ServiceError {
  ctx.countRefused(reason);
  return error;
}
