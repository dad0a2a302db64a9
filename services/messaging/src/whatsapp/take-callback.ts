import { ServiceError } from "@parley/shared/errors";
import type { MessagingContext } from "../context.ts";
import { hasWaiting, insertIncoming, listWaitingTimes } from "../store/incoming.ts";
import { storeStatuses } from "../store/outgoing.ts";
import { dueOf } from "../threads/bundle.ts";
import { enqueueDelivery } from "../threads/delivery-queue.ts";
import { enqueueThreads } from "../threads/thread-queue.ts";
import type { Connection } from "./connections.ts";
import { countWhatsAppMessages } from "./count-messages.ts";
import type { DeliveryStatus, Notification } from "./notification.ts";

/** The most messages of an owner that no turn has taken yet. Further ones stay with WhatsApp, which calls again. */
const WAITING_MAX = 10_000;
const RETRY_MS = 60_000;
/** The most people in one transaction, which locks their jobs. */
const CONTACTS_MAX = 1_000;

/**
 * Makes what a callback reports durable; each message counts once.
 * @throws ServiceError rate_limited while too many of the owner's messages wait, or until the next day if there were too many
 */
export async function takeNotification(
  ctx: MessagingContext,
  { ownerId, carrierId }: Connection,
  { messages, statuses }: Notification,
): Promise<void> {
  const number = { ownerId, carrierId };
  if (messages.length > CONTACTS_MAX || (messages.length > 0 && (await hasWaiting(ctx.db, ownerId, WAITING_MAX)))) {
    throw new ServiceError("rate_limited", "Too many messages are waiting for an answer", { retryAfterMs: RETRY_MS });
  }
  await ctx.db.begin(async (tx) => {
    const now = ctx.clock.now();
    const writers = messages.length > 0 ? await insertIncoming(tx, number, messages, now) : [];
    if (writers.length > 0) {
      await countWhatsAppMessages(ctx, tx, ownerId, writers.length);
      const times = await listWaitingTimes(tx, number, [...new Set(writers)]);
      await enqueueThreads(
        tx,
        times.map(({ contact, firstAt, lastAt }) => ({ ...number, contact, dueAt: dueOf(firstAt, lastAt) })),
      );
    }
    const news = latest(statuses);
    const told = news.length > 0 ? await storeStatuses(tx, number, news) : [];
    if (told.length === 0) return;
    const contacts = [...new Set(told.map(({ contact }) => contact))];
    // A status may end the sending of a message, and the next one may go.
    await enqueueThreads(
      tx,
      contacts.map((contact) => ({ ...number, contact, dueAt: now })),
    );
    const items = told.map(({ conversationId, sequence }) => ({ conversationId, sequence: sequence ?? 1 }));
    await enqueueDelivery(tx, ownerId, items, now);
  });
}

/** A message may fail after WhatsApp has accepted it, but not after it has arrived (storeStatuses). */
const ORDER = ["sent", "failed", "delivered", "read"];

/** One status for each message: the latest in the order of statuses. */
function latest(statuses: readonly DeliveryStatus[]): DeliveryStatus[] {
  const found = new Map<string, DeliveryStatus>();
  for (const status of statuses) {
    const known = found.get(status.wamid);
    if (!known || ORDER.indexOf(known.status) < ORDER.indexOf(status.status)) found.set(status.wamid, status);
  }
  return [...found.values()];
}
