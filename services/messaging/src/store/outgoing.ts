import type { Sql } from "@parley/shared/db/database";
import type { OldRows } from "@parley/shared/jobs/old-rows";
import type { NumberKey, ThreadKey } from "./threads.ts";

export type OutgoingContent =
  | { type: "text"; text: string }
  /** In the channel's own form. `text` is what the transcript shows; its conversation begins with `agentVersion`, or the published one. */
  | { type: "template"; template: object; text: string; agentVersion?: number | undefined }
  /** `mediaId` once it has been spoken and uploaded. */
  | { type: "voice"; text: string; mediaId?: string };

export interface DeliveryReport {
  /** The channel's id of the message. */
  externalId: string;
  /** Our own, if the report repeats it. */
  messageId: string | null;
  status: Delivery;
  /** With `failed`: the channel's code. */
  errorCode: string | null;
}

export type Delivery = "sent" | "delivered" | "read" | "failed";

interface NewOutgoing extends ThreadKey {
  channel: string;
  messageId: string;
  conversationId: string;
  agentId: string;
  /** Null until the template's conversation has begun. */
  sequence: number | null;
  content: OutgoingContent;
  giveUpAt: Date;
}

export interface Outgoing extends NewOutgoing {
  attempts: number;
  dueAt: Date;
}

/** An item of a transcript. */
export interface Item {
  conversationId: string;
  sequence: number;
}

/** Inserts messages, given in the order of sending. */
export async function insertOutgoing(sql: Sql, messages: readonly NewOutgoing[], now: Date): Promise<void> {
  await inserting(sql, messages, now);
}

/** The same; those that are there are left out. */
export async function insertOutgoingOnce(sql: Sql, messages: readonly NewOutgoing[], now: Date): Promise<void> {
  await sql`${inserting(sql, messages, now)} on conflict do nothing`;
}

function inserting(sql: Sql, messages: readonly NewOutgoing[], now: Date) {
  return sql`
    insert into outgoing_messages (owner_id, message_id, carrier_id, contact, channel, conversation_id, agent_id, sequence,
      content, state, due_at, give_up_at, created_at)
    select owner_id, message_id, carrier_id, contact, channel, conversation_id, agent_id, sequence, content::jsonb, 'waiting',
      ${now}, give_up_at::timestamptz, ${now}
    from unnest(
      ${messages.map(({ ownerId }) => ownerId)}::text[],
      ${messages.map(({ messageId }) => messageId)}::uuid[],
      ${messages.map(({ carrierId }) => carrierId)}::text[],
      ${messages.map(({ contact }) => contact)}::text[],
      ${messages.map(({ channel }) => channel)}::text[],
      ${messages.map(({ conversationId }) => conversationId)}::uuid[],
      ${messages.map(({ agentId }) => agentId)}::text[],
      ${messages.map(({ sequence }) => sequence)}::integer[],
      ${messages.map(({ content }) => JSON.stringify(content))}::text[],
      ${messages.map(({ giveUpAt }) => giveUpAt.toISOString())}::text[]
    ) with ordinality as given (owner_id, message_id, carrier_id, contact, channel, conversation_id, agent_id, sequence,
      content, give_up_at, at)
    order by at`;
}

/** The next message to send to a person. */
export async function findNext(sql: Sql, key: ThreadKey): Promise<Outgoing | null> {
  const [row] = await sql<Outgoing[]>`
    select owner_id, message_id, carrier_id, contact, channel, conversation_id, agent_id, sequence, content, attempts,
      due_at, give_up_at
    from outgoing_messages
    where owner_id = ${key.ownerId} and carrier_id = ${key.carrierId} and contact = ${key.contact}
      and state in ('waiting', 'sending')
    order by position limit 1`;
  return row ?? null;
}

type MessageKey = Pick<Outgoing, "ownerId" | "messageId">;

const isMessage = (sql: Sql, { ownerId, messageId }: MessageKey) =>
  sql`owner_id = ${ownerId} and message_id = ${messageId}`;

/** A message that is being sent, with the number of this attempt. */
type Attempt = MessageKey & Pick<Outgoing, "attempts">;

const isAttempt = (sql: Sql, attempt: Attempt) =>
  sql`${isMessage(sql, attempt)} and state = 'sending' and attempts = ${attempt.attempts}`;

/**
 * Records an attempt before its request.
 * @param message with the number of attempts before this one
 * @param dueAt when another attempt may follow if this one gets no report
 * @returns the attempt; null if another process has made it
 */
export async function beginAttempt(sql: Sql, message: Outgoing, dueAt: Date): Promise<Outgoing | null> {
  const { count } = await sql`
    update outgoing_messages set state = 'sending', attempts = attempts + 1, due_at = ${dueAt}
    where ${isMessage(sql, message)} and state in ('waiting', 'sending') and attempts = ${message.attempts}`;
  return count > 0 ? { ...message, attempts: message.attempts + 1, dueAt } : null;
}

/** Extends an attempt whose preparation took its time. @returns false if another process has begun the next attempt */
export async function extendAttempt(sql: Sql, attempt: Attempt, dueAt: Date): Promise<boolean> {
  const { count } = await sql`update outgoing_messages set due_at = ${dueAt} where ${isAttempt(sql, attempt)}`;
  return count > 0;
}

/** Records that the channel did not take an attempt for now. */
export async function putOff(sql: Sql, attempt: Attempt, dueAt: Date): Promise<void> {
  await sql`update outgoing_messages set state = 'waiting', due_at = ${dueAt} where ${isAttempt(sql, attempt)}`;
}

export async function setOutgoingContent(sql: Sql, attempt: Attempt, content: OutgoingContent): Promise<void> {
  await sql`update outgoing_messages set content = ${sql.json(content as never)} where ${isAttempt(sql, attempt)}`;
}

export async function setSequence(sql: Sql, key: MessageKey, sequence: number): Promise<void> {
  await sql`update outgoing_messages set sequence = ${sequence} where ${isMessage(sql, key)}`;
}

/** Records that the channel has accepted the message. A report may have said so before. */
export async function markSent(sql: Sql, key: MessageKey, externalId: string): Promise<void> {
  await sql`
    update outgoing_messages set state = case when state = 'failed' then state else 'sent' end, content = null,
      external_id = ${externalId}, delivery = coalesce(delivery, 'sent')
    where ${isMessage(sql, key)}`;
}

export async function markFailed(sql: Sql, key: MessageKey, errorCode: string): Promise<void> {
  await sql`
    update outgoing_messages set state = 'failed', content = null, delivery = 'failed', error_code = ${errorCode}
    where ${isMessage(sql, key)} and state in ('waiting', 'sending')`;
}

/**
 * Stores statuses that are later than what is stored: sent, delivered, read; a message that has arrived cannot fail. One that
 * says that a message arrived ends its sending too.
 * @param statuses one for each message
 * @returns the people and the items of transcripts that they are about
 */
export async function storeStatuses(
  tx: Sql,
  { ownerId, carrierId }: NumberKey,
  statuses: readonly DeliveryReport[],
): Promise<{ contact: string; conversationId: string; sequence: number | null }[]> {
  const meant = await tx<{ place: string; messageId: string; externalId: string | null }[]>`
    select ctid::text as place, message_id, external_id from outgoing_messages
    where owner_id = ${ownerId} and carrier_id = ${carrierId} and (
      external_id = any(${statuses.map(({ externalId }) => externalId)}::text[])
      or message_id = any(${statuses.flatMap(({ messageId }) => messageId ?? [])}::uuid[])
    )
    order by message_id for update`;
  const ofExternalIds = new Map(statuses.map((status) => [status.externalId, status]));
  const ofIds = new Map(statuses.map((status) => [status.messageId, status]));
  const told = meant.flatMap(({ place, messageId, externalId }) => {
    const status = ofExternalIds.get(externalId ?? "") ?? ofIds.get(messageId);
    return status ? [{ ...status, place }] : [];
  });
  const rank = (column: "status" | "delivery") =>
    tx`coalesce(array_position('{sent,delivered,read}', ${tx(column)}), 0)`;
  return tx<{ contact: string; conversationId: string; sequence: number | null }[]>`
    update outgoing_messages set
      external_id = coalesce(external_id, told_id), delivery = status, error_code = code, content = null,
      state = case when status = 'failed' then 'failed' else 'sent' end
    from unnest(
      ${told.map(({ place }) => place)}::text[]::tid[],
      ${told.map(({ externalId }) => externalId)}::text[],
      ${told.map(({ status }) => status)}::text[],
      ${told.map(({ errorCode }) => errorCode)}::text[]
    ) as told (place, told_id, status, code)
    where ctid = place and coalesce(delivery, '') <> 'failed'
      and case when status = 'failed' then coalesce(delivery, 'sent') = 'sent' else ${rank("delivery")} < ${rank("status")} end
    returning contact, conversation_id, sequence`;
}

/** The status of an item of a transcript, which may have been sent in parts; null while nothing is known. */
export async function findItemDelivery(
  sql: Sql,
  ownerId: string,
  { conversationId, sequence }: Item,
): Promise<{ delivery: Delivery; errorCode: string | null } | null> {
  const parts = await sql<{ delivery: Delivery | null; errorCode: string | null }[]>`
    select delivery, error_code from outgoing_messages
    where owner_id = ${ownerId} and conversation_id = ${conversationId} and sequence = ${sequence}`;
  const failed = parts.find(({ delivery }) => delivery === "failed");
  if (failed) return { delivery: "failed", errorCode: failed.errorCode };
  for (const delivery of ["sent", "delivered", "read"] as const) {
    if (parts.some((part) => part.delivery === null)) return null;
    if (parts.some((part) => part.delivery === delivery)) return { delivery, errorCode: null };
  }
  return null;
}

/** A status may come for a month. */
export const OLD_OUTGOING: OldRows = { table: "outgoing_messages", by: "created_at", keptMs: 31 * 24 * 60 * 60_000 };
