import type { Sql } from "@parley/shared/db/database";
import { keptFor, keptSince } from "./retention.ts";
import type { SessionKey } from "./session-key.ts";

export interface OwnerExpiry {
  ownerId: string;
  hasExpired: boolean;
}

/**
 * The next owners that have conversations, in the order of their ids, and whether any of each is past retention. Steps through
 * conversations_newest from owner to owner, however many conversations lie between.
 */
export async function listOwnerExpiry(
  sql: Sql,
  afterOwnerId: string,
  now: Date,
  limit: number,
): Promise<OwnerExpiry[]> {
  return sql<OwnerExpiry[]>`
    with recursive owners (owner_id) as (
      (select owner_id from conversations where owner_id > ${afterOwnerId} order by owner_id limit 1)
      union all
      select (select next.owner_id from conversations as next where next.owner_id > owners.owner_id order by next.owner_id limit 1)
      from owners where owners.owner_id is not null
    ), page as materialized (
      select owner_id from owners where owner_id is not null limit ${limit}
    )
    select owner_id, exists (
      select 1 from conversations
      where conversations.owner_id = page.owner_id and created_at < ${keptFor(sql, sql`retention_days`, now)}
    ) as has_expired
    from page left join owner_retention using (owner_id)
    order by owner_id`;
}

export interface ExpiredConversation {
  conversationId: string;
  messageCount: number;
}

/**
 * Takes the oldest of an owner's conversations that are past retention, but for those whose event is not sent yet and that have
 * been past it for less than `unsentMs`.
 */
export async function takeExpired(
  tx: Sql,
  ownerId: string,
  now: Date,
  unsentMs: number,
  limit: number,
): Promise<ExpiredConversation[]> {
  return tx<ExpiredConversation[]>`
    select conversation_id, message_count from conversations
    where owner_id = ${ownerId} and created_at < ${keptSince(tx, ownerId, now)} and (
      created_at < ${keptSince(tx, ownerId, new Date(now.getTime() - unsentMs))} or not exists (
        select 1 from conversation_events as event
        where event.owner_id = conversations.owner_id and event.conversation_id = conversations.conversation_id
          and due_at < 'infinity'
      )
    )
    order by created_at limit ${limit} for update skip locked`;
}

/** Deletes the first messages of a conversation. @returns how many */
export async function deleteOldestMessages(tx: Sql, key: SessionKey, limit: number): Promise<number> {
  const { count } = await tx`
    delete from messages
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and seq < ${limit} + (
      select min(seq) from messages where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId}
    )`;
  return count;
}

/**
 * Deletes conversations with all that is theirs; the counts follow by trigger (0003_conversation_counts). To be taken before, so
 * that whoever adds a message has them then, or finds them gone.
 * @returns how many of their events were not sent
 */
export async function deleteConversations(tx: Sql, ownerId: string, ids: readonly string[]): Promise<number> {
  const those = () => tx`owner_id = ${ownerId} and conversation_id = any(${[...ids]}::uuid[])`;
  const { count } = await tx`delete from conversation_events where ${those()}`;
  await tx`delete from messages where ${those()}`;
  await tx`delete from conversations where ${those()}`;
  return count;
}
