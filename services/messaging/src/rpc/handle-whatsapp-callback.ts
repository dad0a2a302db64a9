import type { HandleWhatsAppCallbackRequest } from "@parley/proto/parley/messaging/v1/messaging_service.ts";
import { notFound, ServiceError } from "@parley/shared/errors";
import type { Handler, MessagingContext } from "../context.ts";
import type { Connection } from "../whatsapp/connections.ts";
import { type Notification, readNotifications } from "../whatsapp/notification.ts";
import { isSigned } from "../whatsapp/signature.ts";
import { takeNotification } from "../whatsapp/take-callback.ts";

/**
 * Bytes of a callback that count as one message towards the owner's pace: reading 3 MB takes 50 ms, whatever is in them. A callback
 * with a message has about 1 KB.
 */
const BYTES_AS_ONE = 16 * 1024;

export function handleWhatsAppCallback(ctx: MessagingContext): Handler<"handleWhatsAppCallback"> {
  return async (callback, { signal }) => {
    const connection = await ctx.verifyFewAtOnce(callback.carrierId, signal, () => verify(ctx, callback));
    await pace(ctx, connection, Math.floor(callback.body.length / BYTES_AS_ONE), signal);
    const read = readNotifications(callback.body);
    if (!read) throw new ServiceError("condition", "The request body is not valid JSON");
    const notifications = read.map((notification) => withinPace(ctx, connection, notification, signal));
    const items = notifications.reduce((sum, { messages, statuses }) => sum + messages.length + statuses.length, 0);
    await pace(ctx, connection, items, signal);
    await ctx.takeFewAtOnce(connection.ownerId, signal, () => take(ctx, connection, notifications));
    return {};
  };
}

/** @throws ServiceError rate_limited */
async function pace(ctx: MessagingContext, { ownerId }: Connection, count: number, gone: AbortSignal): Promise<void> {
  const slowDown = ctx.newsPace.take(ownerId, count, gone);
  if (slowDown) await slowDown;
}

/**
 * The notification without messages of people who write faster than a person does, so that nobody fills the pace of the owner alone.
 * They are acknowledged, because WhatsApp would repeat them, and with them those of others.
 */
function withinPace(
  { contactPace, countDropped }: MessagingContext,
  { ownerId }: Connection,
  notification: Notification,
  gone: AbortSignal,
): Notification {
  const messages = notification.messages.filter(({ contact }) => {
    try {
      contactPace.take(`${ownerId} ${contact}`, 1, gone);
      return true;
    } catch {
      return false;
    }
  });
  countDropped(notification.messages.length - messages.length);
  return { ...notification, messages };
}

/** @throws ServiceError not_found, forbidden */
async function verify(
  ctx: MessagingContext,
  { carrierId, body, signature }: HandleWhatsAppCallbackRequest,
): Promise<Connection> {
  const connection = await ctx.connections.find(carrierId);
  if (!connection) throw refused(ctx, "unknown", notFound("WhatsApp connection"));
  if (isSigned(body, signature, connection.appSecret)) return connection;
  const wrong = "X-Hub-Signature-256 is not the signature of this body by the app's secret";
  throw refused(ctx, "signature", new ServiceError("forbidden", wrong));
}

/** @throws ServiceError rate_limited */
async function take(
  ctx: MessagingContext,
  connection: Connection,
  notifications: readonly Notification[],
): Promise<void> {
  const meant = await connectionsOf(ctx, connection, notifications);
  for (const notification of notifications) {
    const number = meant.get(notification.phoneNumberId);
    // A number that the owner has not connected: the app has more numbers than Parley.
    if (number) await takeNotification(ctx, number, notification);
  }
}

/** The owner's connections that a callback is about, looked up once, because a callback may name thousands of numbers. */
async function connectionsOf(
  { connections }: MessagingContext,
  connection: Connection,
  notifications: readonly Notification[],
): Promise<Map<string, Connection>> {
  const others = new Set(notifications.map(({ phoneNumberId }) => phoneNumberId));
  others.delete(connection.phoneNumberId);
  const found = others.size > 0 ? await connections.ofNumbers(connection.ownerId, others) : [];
  return new Map([...found, [connection.phoneNumberId, connection]]);
}

function refused(ctx: MessagingContext, reason: string, error: ServiceError): ServiceError {
  ctx.countRefused(reason);
  return error;
}
