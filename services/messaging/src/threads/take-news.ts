import type { Sql } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import type { ThreadedChannel } from "../channels/channel.ts";
import type { ThreadContext } from "../context.ts";
import {
  changeIncoming,
  deleteIncoming,
  hasWaiting,
  type IncomingMessage,
  insertIncoming,
  listWaitingTimes,
} from "../store/incoming.ts";
import { countSenders } from "../store/message-days.ts";
import { type DeliveryReport, storeStatuses } from "../store/outgoing.ts";
import type { NumberKey } from "../store/threads.ts";
import { dueOf } from "./bundle.ts";
import { countDay } from "./count-day.ts";
import { enqueueDelivery } from "./delivery-queue.ts";
import { enqueueThreads } from "./thread-queue.ts";

type NewsContext = Pick<ThreadContext, "db" | "clock" | "log">;

/** What a channel reports about one connection. */
export interface News {
  /** In the channel's order. */
  messages: readonly IncomingMessage[];
  statuses: readonly DeliveryReport[];
}

/** The most messages of an owner that no turn has taken yet. Further ones stay with the channel, which calls again. */
const WAITING_MAX = 10_000;
const RETRY_MS = 60_000;
/** The most people in one transaction, which locks their jobs. */
const CONTACTS_MAX = 1_000;

/**
 * Makes what a channel reports durable; each message counts once.
 * @throws ServiceError rate_limited while too many of the owner's messages wait, or until the next day if there were too many
 */
export async function takeNews(
  ctx: NewsContext,
  channel: ThreadedChannel,
  { ownerId, carrierId }: NumberKey,
  { messages, statuses }: News,
): Promise<void> {
  const number = { ownerId, carrierId, channel: channel.name };
  if (messages.length > CONTACTS_MAX || (messages.length > 0 && (await hasWaiting(ctx.db, ownerId, WAITING_MAX)))) {
    throw new ServiceError("rate_limited", "Too many messages are waiting for an answer", { retryAfterMs: RETRY_MS });
  }
  await ctx.db.begin(async (tx) => {
    const now = ctx.clock.now();
    const stored = messages.length > 0 ? await insertIncoming(tx, number, messages, now) : [];
    const taken = stored.length > 0 ? await withinShares(ctx, tx, channel, number, stored) : [];
    if (taken.length > 0) {
      await countDay(tx, channel, ownerId, taken.length, now);
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
 * have. They are acknowledged: the channel would send them again, and with them those of other people.
 * @returns the others
 */
async function withinShares(
  ctx: NewsContext,
  tx: Sql,
  channel: ThreadedChannel,
  number: NumberKey,
  messages: readonly IncomingMessage[],
): Promise<readonly IncomingMessage[]> {
  const { ownerId, carrierId } = number;
  const byContact = Map.groupBy(messages, ({ contact }) => contact);
  const senders = [...byContact].map(([sender, { length }]) => ({ sender, messages: length }));
  const day = { ownerId, channel: channel.name, now: ctx.clock.now() };
  const over = await countSenders(tx, day, { senders, max: channel.perDay.ofContact });
  if (over.size === 0) return messages;
  const dropped = [...over].flatMap((sender) => byContact.get(sender) ?? []);
  await deleteIncoming(tx, number, dropped);
  channel.countDropped(dropped.length);
  const told = { owner_id: ownerId, carrier_id: carrierId, dropped: dropped.length };
  ctx.log.info(told, "a person wrote more on this day than one may: the messages are dropped");
  return messages.filter(({ contact }) => !over.has(contact));
}

/** A message may fail after its channel has accepted it, but not after it has arrived (storeStatuses). */
const ORDER = ["sent", "failed", "delivered", "read"];

/** One status for each message: the latest in the order of statuses. */
function latest(statuses: readonly DeliveryReport[]): DeliveryReport[] {
  const found = new Map<string, DeliveryReport>();
  for (const status of statuses) {
    const known = found.get(status.externalId);
    if (!known || ORDER.indexOf(known.status) < ORDER.indexOf(status.status)) found.set(status.externalId, status);
  }
  return [...found.values()];
}
