import type { Database, Sql } from "@parley/shared/db/database";
import type { StatusName } from "./conversations.ts";
import { keptFor, keptSince } from "./retention.ts";

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
  status: StatusName;
}

/** The oldest of an owner's conversations that are past retention, but for those whose webhooks wait to be sent. */
export async function listExpired(sql: Sql, ownerId: string, now: Date, limit: number): Promise<ExpiredConversation[]> {
  return sql<ExpiredConversation[]>`
    select conversation_id, status from conversations
    where owner_id = ${ownerId} and created_at < ${keptSince(sql, ownerId, now)} and ${hasNoEvent(sql)}
    order by created_at limit ${limit}`;
}

/**
 * Deletes conversations that are past retention, with all that is theirs, in one transaction; the counts follow by trigger
 * (0003_conversation_counts). One that has ended since it was listed stays: its webhooks are to be sent, and forgotten, first.
 * @returns how many
 */
export async function deleteExpired(
  db: Database,
  ownerId: string,
  expired: readonly ExpiredConversation[],
  now: Date,
): Promise<number> {
  return db.begin(async (tx) => {
    // Before the messages are looked for: whoever adds one has this row then, or finds it gone.
    const taken = await tx<{ conversationId: string }[]>`
      select conversation_id from conversations
      where owner_id = ${ownerId} and created_at < ${keptSince(tx, ownerId, now)} and ${hasNoEvent(tx)}
        and (conversation_id, status) in (
          select * from unnest(
            ${expired.map(({ conversationId }) => conversationId)}::uuid[],
            ${expired.map(({ status }) => status)}::text[]
          )
        )
      for update skip locked`;
    const ids = taken.map(({ conversationId }) => conversationId);
    if (ids.length === 0) return 0;
    await tx`delete from messages where owner_id = ${ownerId} and conversation_id = any(${ids}::uuid[])`;
    await tx`delete from conversations where owner_id = ${ownerId} and conversation_id = any(${ids}::uuid[])`;
    return ids.length;
  }) as Promise<number>;
}

/** The dispatcher has whatever it will get of a conversation, or would get it after it was told to forget. */
const hasNoEvent = (sql: Sql) => sql`
  not exists (
    select 1 from conversation_events as event
    where event.owner_id = conversations.owner_id and event.conversation_id = conversations.conversation_id
  )`;
