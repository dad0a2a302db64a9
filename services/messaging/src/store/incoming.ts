import type { Sql } from "@parley/shared/db/database";
import { oldestPlaces } from "@parley/shared/db/oldest-places";
import type { IncomingContent, IncomingMessage } from "../whatsapp/notification.ts";
import type { ThreadKey } from "./threads.ts";

export interface WaitingMessage {
  messageId: string;
  content: IncomingContent;
  receivedAt: Date;
}

type NumberKey = Omit<ThreadKey, "contact">;

/** Stores messages that have not come before, with their threads. @returns who wrote each of them */
export async function insertIncoming(
  tx: Sql,
  { ownerId, carrierId }: NumberKey,
  messages: readonly IncomingMessage[],
  now: Date,
): Promise<string[]> {
  const rows = await tx<{ contact: string }[]>`
    with given as materialized (
      select message_id, contact, content::jsonb as content, at
      from unnest(
        ${messages.map(({ messageId }) => messageId)}::text[],
        ${messages.map(({ contact }) => contact)}::text[],
        ${messages.map(({ content }) => JSON.stringify(content))}::text[]
      ) with ordinality as given (message_id, contact, content, at)
    ), stored as (
      insert into incoming_messages (owner_id, carrier_id, message_id, contact, content, received_at)
      select ${ownerId}, ${carrierId}, message_id, contact, content, ${now} from given order by at
      on conflict (owner_id, carrier_id, message_id) do nothing
      returning contact
    ), begun as (
      insert into threads (owner_id, carrier_id, contact, updated_at)
      select ${ownerId}, ${carrierId}, contact, ${now} from (select distinct contact from stored) as writers
      order by contact
      on conflict (owner_id, carrier_id, contact) do update set updated_at = excluded.updated_at
    )
    select contact from stored`;
  return rows.map(({ contact }) => contact);
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

/** @returns the number deleted */
export async function deleteOldIncoming(sql: Sql, before: Date, limit: number): Promise<number> {
  const old = { where: sql`received_at < ${before}`, by: "received_at", limit };
  const { count } =
    await sql`delete from incoming_messages where ctid = any(${oldestPlaces(sql, "incoming_messages", old)})`;
  return count;
}
