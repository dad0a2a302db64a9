import type { Sql } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import type { OldRows } from "@parley/shared/jobs/old-rows";

/** Whoever writes to an owner's agents, as the channel names it. */
interface Sender {
  sender: string;
  messages: number;
}

/** The UTC day of `now` on a channel. */
interface ChannelDay {
  ownerId: string;
  channel: string;
  now: Date;
}

const DAY_MS = 24 * 60 * 60_000;

/**
 * Counts messages on the UTC day of `now`.
 * @throws ServiceError rate_limited until the day ends, with nothing counted, if the owner would have more than `max` on that day
 */
export async function countMessages(
  sql: Sql,
  { ownerId, channel, now }: ChannelDay,
  { messages, max, refusal }: { messages: number; max: number; refusal: string },
): Promise<void> {
  const { count } = await sql`
    insert into message_days as days (owner_id, day, channel, messages)
    select ${ownerId}, ${dayOf(now)}::date, ${channel}, ${messages}::integer where ${messages}::integer <= ${max}::integer
    on conflict (owner_id, day, channel) do update set messages = days.messages + excluded.messages
      where days.messages + excluded.messages <= ${max}`;
  if (count === 0) throw new ServiceError("rate_limited", refusal, { retryAfterMs: leftMsOf(now) });
}

/**
 * Counts messages of senders on the UTC day of `now`. @param senders each of them once
 * @returns the senders that would have more than `max` on that day, with nothing counted for them
 */
export async function countSenders(
  sql: Sql,
  { ownerId, channel, now }: ChannelDay,
  { senders, max }: { senders: readonly Sender[]; max: number },
): Promise<Set<string>> {
  const counted = await sql<{ sender: string }[]>`
    insert into sender_days as days (owner_id, day, channel, sender, messages)
    select ${ownerId}, ${dayOf(now)}::date, ${channel}, sender, messages
    from unnest(
      ${senders.map(({ sender }) => sender)}::text[], ${senders.map(({ messages }) => messages)}::integer[]
    ) as given (sender, messages)
    where messages <= ${max}::integer
    order by sender
    on conflict (owner_id, day, channel, sender) do update set messages = days.messages + excluded.messages
      where days.messages + excluded.messages <= ${max}
    returning sender`;
  const within = new Set(counted.map(({ sender }) => sender));
  return new Set(senders.map(({ sender }) => sender).filter((sender) => !within.has(sender)));
}

/** Milliseconds until the next UTC day. */
export function leftMsOf(now: Date): number {
  return DAY_MS - (now.getTime() % DAY_MS);
}

/** The counts of past days. */
export const OLD_DAYS: readonly OldRows[] = [
  { table: "message_days", by: "day", isDay: true, keptMs: 24 * 60 * 60_000 },
  { table: "sender_days", by: "day", isDay: true, keptMs: 24 * 60 * 60_000 },
];

const dayOf = (time: Date) => time.toISOString().slice(0, 10);
