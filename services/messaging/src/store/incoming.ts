import type { Sql } from "@parley/shared/db/database";
import type { OldRows } from "@parley/shared/jobs/old-rows";
import type { NumberKey, ThreadKey } from "./threads.ts";

export interface WaitingMessage {
  messageId: string;
  content: IncomingContent;
  receivedAt: Date;
}

export interface IncomingMessage {
  /** The channel's. */
  messageId: string;
  /** The person, as the channel names it. */
  contact: string;
  /** Null for a message that was deleted. */
  content: IncomingContent | null;
  /** The id of the message that was edited to this content, or deleted; null for a new message. */
  changes: string | null;
  /** When the channel sent it, in seconds since 1970; 0 if unknown. */
  sentAt: number;
}

export type IncomingContent =
  | { type: "text"; text: string }
  /** A voice message that is still to be transcribed. */
  | { type: "voice"; mediaId: string }
  /** A voice message that has been transcribed. */
  | { type: "heard"; text: string };

/**
 * Stores messages that have not come before, with their threads. Of an edit or a deletion only the id is stored (`changeIncoming`).
 * @returns those that have not come before
 */
export async function insertIncoming(
  tx: Sql,
  { ownerId, carrierId, channel }: NumberKey & { channel: string },
  messages: readonly IncomingMessage[],
  now: Date,
): Promise<IncomingMessage[]> {
  const rows = await tx<{ messageId: string }[]>`
    with given as materialized (
      select message_id, contact, content::jsonb as content, at
      from unnest(
        ${messages.map(({ messageId }) => messageId)}::text[],
        ${messages.map(({ contact }) => contact)}::text[],
        ${messages.map(({ content, changes }) => (changes === null ? JSON.stringify(content) : null))}::text[]
      ) with ordinality as given (message_id, contact, content, at)
    ), stored as (
      insert into incoming_messages (owner_id, carrier_id, message_id, contact, content, received_at)
      select ${ownerId}, ${carrierId}, message_id, contact, content, ${now} from given order by at
      on conflict (owner_id, carrier_id, message_id) do nothing
      returning message_id, contact
    ), begun as (
      insert into threads (owner_id, carrier_id, contact, channel, updated_at)
      select ${ownerId}, ${carrierId}, contact, ${channel}, ${now} from (select distinct contact from stored) as writers
      order by contact
      on conflict (owner_id, carrier_id, contact) do update set updated_at = excluded.updated_at
    )
    select message_id from stored`;
  const stored = new Set(rows.map(({ messageId }) => messageId));
  return messages.filter(({ messageId }) => stored.delete(messageId));
}

/**
 * Edits or deletes messages of the same people that no turn has taken. One that has not come yet is stored as it became, because
 * callbacks may overtake each other. For the same reason a later edit stays, and so does a deletion.
 */
export async function changeIncoming(
  tx: Sql,
  { ownerId, carrierId }: NumberKey,
  changes: readonly IncomingMessage[],
  now: Date,
): Promise<void> {
  const inOrder = changes.toSorted((a, b) => a.sentAt - b.sentAt);
  const deleted = inOrder.filter(({ content }) => content === null);
  const last = [...new Map([...inOrder, ...deleted].map((change) => [change.changes ?? "", change])).entries()];
  await tx`
    insert into incoming_messages (owner_id, carrier_id, message_id, contact, content, received_at, changed_at)
    select ${ownerId}, ${carrierId}, message_id, contact, content::jsonb, ${now}, changed_at
    from unnest(
      ${last.map(([changed]) => changed)}::text[],
      ${last.map(([, { contact }]) => contact)}::text[],
      ${last.map(([, { content }]) => content && JSON.stringify(content))}::text[],
      ${last.map(([, { sentAt }]) => sentAt)}::bigint[]
    ) as changed (message_id, contact, content, changed_at)
    order by message_id
    on conflict (owner_id, carrier_id, message_id) do update set content = excluded.content, changed_at = excluded.changed_at
      where incoming_messages.contact = excluded.contact and incoming_messages.content is not null
        and (excluded.content is null or incoming_messages.changed_at <= excluded.changed_at)`;
}

/** Forgets messages that were stored in this transaction. */
export async function deleteIncoming(
  tx: Sql,
  { ownerId, carrierId }: NumberKey,
  messages: readonly IncomingMessage[],
): Promise<void> {
  await tx`
    delete from incoming_messages
    where owner_id = ${ownerId} and carrier_id = ${carrierId}
      and message_id = any(${messages.map(({ messageId }) => messageId)}::text[])`;
}

/** The oldest waiting messages of a person. */
export async function listWaiting(sql: Sql, key: ThreadKey, limit: number): Promise<WaitingMessage[]> {
  return sql<WaitingMessage[]>`
    select message_id, content, received_at from incoming_messages
    where owner_id = ${key.ownerId} and carrier_id = ${key.carrierId} and contact = ${key.contact}
      and content is not null
    order by position limit ${limit}`;
}

/** When the first and the last waiting message of each person came. */
export async function listWaitingTimes(
  sql: Sql,
  { ownerId, carrierId }: NumberKey,
  contacts: readonly string[],
): Promise<{ contact: string; firstAt: Date; lastAt: Date }[]> {
  return sql<{ contact: string; firstAt: Date; lastAt: Date }[]>`
    select contact, min(received_at) as first_at, max(received_at) as last_at from incoming_messages
    where owner_id = ${ownerId} and carrier_id = ${carrierId} and contact = any(${contacts as string[]})
      and content is not null
    group by contact`;
}

/** Whether an owner has at least this many messages that no turn has taken. */
export async function hasWaiting(sql: Sql, ownerId: string, atLeast: number): Promise<boolean> {
  const [row] = await sql<{ waiting: number }[]>`
    select count(*)::integer as waiting from (
      select 1 from incoming_messages where owner_id = ${ownerId} and content is not null limit ${atLeast}
    ) as found`;
  return (row?.waiting ?? 0) >= atLeast;
}

/** Replaces the content of a message that still waits. */
export async function setContent(sql: Sql, key: ThreadKey, messageId: string, content: IncomingContent): Promise<void> {
  await sql`
    update incoming_messages set content = ${sql.json(content as never)}
    where owner_id = ${key.ownerId} and carrier_id = ${key.carrierId} and message_id = ${messageId} and content is not null`;
}

/** Deletes waiting messages that will get no answer. */
export async function dropWaiting(sql: Sql, key: ThreadKey): Promise<number> {
  const { count } = await sql`
    update incoming_messages set content = null
    where owner_id = ${key.ownerId} and carrier_id = ${key.carrierId} and contact = ${key.contact}
      and content is not null`;
  return count;
}

/** A channel may repeat a callback for a week. */
export const OLD_INCOMING: OldRows = { table: "incoming_messages", by: "received_at", keptMs: 8 * 24 * 60 * 60_000 };
