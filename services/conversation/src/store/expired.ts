import type { Sql } from "@parley/shared/db/database";
import { keptFor, keptSince } from "./retention.ts";
import type { SessionKey } from "./session-key.ts";

interface OwnerExpiry {
  ownerId: string;
  hasExpired: boolean;
}

/**
 * Lists the next owners that have conversations, by id, and whether any of their conversations is past retention. Steps
 * from owner to owner in conversations_newest, so the number of conversations does not matter.
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
    from page left join owner_settings using (owner_id)
    order by owner_id`;
}

export interface ExpiredConversation {
  conversationId: string;
  messageCount: number;
}

/**
 * Locks an owner's oldest conversations past retention, except those with an unsent event that have been past it for
 * less than `unsentMs`.
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
        select 1 from owner_events as event
        where event.owner_id = conversations.owner_id and event.conversation_id = conversations.conversation_id
          and due_at < 'infinity'
      )
    )
    order by created_at limit ${limit} for update skip locked`;
}

/** Deletes the first messages of a conversation and their tool calls. @returns the number of messages deleted */
export async function deleteOldestMessages(tx: Sql, key: SessionKey, limit: number): Promise<number> {
  const ofIt = () => tx`owner_id = ${key.ownerId} and conversation_id = ${key.conversationId}`;
  const { count } = await tx`
    with oldest as (
      delete from messages
      where ${ofIt()} and seq < ${limit} + (select min(seq) from messages where ${ofIt()})
      returning seq
    ), uncalled as (
      delete from tool_calls where ${ofIt()} and seq <= (select max(seq) from oldest)
    )
    select from oldest`;
  return count;
}

/**
 * Deletes conversations with everything that belongs to them; triggers update the counts (0001_conversation).
 * Lock them first, so that a concurrent writer either finishes before or finds them gone.
 * @returns the number of unsent events deleted
 */
export async function deleteConversations(tx: Sql, ownerId: string, ids: readonly string[]): Promise<number> {
  const those = () => tx`owner_id = ${ownerId} and conversation_id = any(${[...ids]}::uuid[])`;
  const { count } = await tx`delete from owner_events where ${those()}`;
  await tx`delete from messages where ${those()}`;
  await tx`delete from tool_calls where ${those()}`;
  await tx`delete from live_events where ${those()}`;
  await tx`delete from live_topics where ${those()}`;
  await tx`delete from conversations where ${those()}`;
  return count;
}
