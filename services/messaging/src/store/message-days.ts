import type { Sql } from "@parley/shared/db/database";
import { oldestPlaces } from "@parley/shared/db/oldest-places";
import { ServiceError } from "@parley/shared/errors";

/** Where messages of an owner are counted: those of websites' visitors, and those to and from WhatsApp numbers. */
type Days = "widget_days" | "whatsapp_days";

/** Whoever writes to an owner's agents: a person on WhatsApp, or the address of a website's visitor. */
export interface Sender {
  /** Unique among the senders of all channels. */
  sender: string;
  messages: number;
}

const DAY_MS = 24 * 60 * 60_000;

/**
 * Counts messages on the UTC day of `now`.
 * @throws ServiceError rate_limited until the day ends, with nothing counted, if the owner would have more than `max` on that day
 */
export async function countMessages(
  sql: Sql,
  days: Days,
  {
    ownerId,
    now,
    messages,
    max,
    refusal,
  }: { ownerId: string; now: Date; messages: number; max: number; refusal: string },
): Promise<void> {
  const { count } = await sql`
    insert into ${sql(days)} as days (owner_id, day, messages)
    select ${ownerId}, ${dayOf(now)}::date, ${messages}::integer where ${messages}::integer <= ${max}::integer
    on conflict (owner_id, day) do update set messages = days.messages + excluded.messages
      where days.messages + excluded.messages <= ${max}`;
  if (count === 0) throw new ServiceError("rate_limited", refusal, { retryAfterMs: leftMsOf(now) });
}

/**
 * Counts messages of senders on the UTC day of `now`. @param senders each of them once
 * @returns the senders that would have more than `max` on that day, with nothing counted for them
 */
export async function countSenders(
  sql: Sql,
  { ownerId, now, senders, max }: { ownerId: string; now: Date; senders: readonly Sender[]; max: number },
): Promise<Set<string>> {
  const counted = await sql<{ sender: string }[]>`
    insert into sender_days as days (owner_id, day, sender, messages)
    select ${ownerId}, ${dayOf(now)}::date, sender, messages
    from unnest(
      ${senders.map(({ sender }) => sender)}::text[], ${senders.map(({ messages }) => messages)}::integer[]
    ) as given (sender, messages)
    where messages <= ${max}::integer
    order by sender
    on conflict (owner_id, day, sender) do update set messages = days.messages + excluded.messages
      where days.messages + excluded.messages <= ${max}
    returning sender`;
  const within = new Set(counted.map(({ sender }) => sender));
  return new Set(senders.map(({ sender }) => sender).filter((sender) => !within.has(sender)));
}

/** Milliseconds until the next UTC day. */
export function leftMsOf(now: Date): number {
  return DAY_MS - (now.getTime() % DAY_MS);
}

/** @returns the number deleted */
export async function deleteOldDays(
  sql: Sql,
  days: Days | "sender_days",
  before: Date,
  limit: number,
): Promise<number> {
  const old = { where: sql`day < ${dayOf(before)}`, by: "day", limit };
  const { count } = await sql`delete from ${sql(days)} where ctid = any(${oldestPlaces(sql, days, old)})`;
  return count;
}

const dayOf = (time: Date) => time.toISOString().slice(0, 10);
