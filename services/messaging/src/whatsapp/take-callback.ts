import type { Sql } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import type { MessagingContext } from "../context.ts";
import { changeIncoming, deleteIncoming, hasWaiting, insertIncoming, listWaitingTimes } from "../store/incoming.ts";
import { countSenders } from "../store/message-days.ts";
import { storeStatuses } from "../store/outgoing.ts";
import { dueOf } from "../threads/bundle.ts";
import { enqueueDelivery } from "../threads/delivery-queue.ts";
import { enqueueThreads } from "../threads/thread-queue.ts";
import type { Connection } from "./connections.ts";
import { countWhatsAppMessages } from "./count-messages.ts";
import type { DeliveryStatus, IncomingMessage, Notification } from "./notification.ts";

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
    const stored = messages.length > 0 ? await insertIncoming(tx, number, messages, now) : [];
    const taken = stored.length > 0 ? await withinShares(ctx, tx, number, stored) : [];
    if (taken.length > 0) {
      await countWhatsAppMessages(ctx, tx, ownerId, taken.length);
      const changes = taken.filter((message) => message.changes !== null);
      if (changes.length > 0) await changeIncoming(tx, number, changes, now);
      const times = await listWaitingTimes(tx, number, [...new Set(taken.map(({ contact }) => contact))]);
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

/**
 * Forgets new messages of people who wrote more than one person may on a day, so that nobody uses up what the owner's numbers may
 * have. They are acknowledged: WhatsApp would send them again, and with them those of other people.
 * @returns the others
 */
async function withinShares(
  ctx: MessagingContext,
  tx: Sql,
  number: { ownerId: string; carrierId: string },
  messages: readonly IncomingMessage[],
): Promise<readonly IncomingMessage[]> {
  const { ownerId, carrierId } = number;
  const byContact = Map.groupBy(messages, ({ contact }) => `whatsapp ${contact}`);
  const senders = [...byContact].map(([sender, { length }]) => ({ sender, messages: length }));
  const max = ctx.whatsAppMessagesPerContact;
  const over = await countSenders(tx, { ownerId, now: ctx.clock.now(), senders, max });
  if (over.size === 0) return messages;
  const dropped = [...over].flatMap((sender) => byContact.get(sender) ?? []);
  await deleteIncoming(tx, number, dropped);
  ctx.countDropped(dropped.length);
  const told = { owner_id: ownerId, carrier_id: carrierId, dropped: dropped.length };
  ctx.log.info(told, "a person wrote more on this day than one may: the messages are dropped");
  return messages.filter(({ contact }) => !over.has(`whatsapp ${contact}`));
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
