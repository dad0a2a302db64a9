import type { Database, Sql } from "@parley/shared/db/database";
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

/**
 * Deletes the oldest of an owner's conversations that are past retention, with all that is theirs, in one transaction; the counts
 * follow by trigger (0003_conversation_counts). Returns how many.
 */
export async function deleteExpired(db: Database, ownerId: string, now: Date, limit: number): Promise<number> {
  return db.begin(async (tx) => {
    // Before the messages are looked for: whoever adds one has this row then, or finds it gone.
    const expired = await tx<{ conversationId: string }[]>`
      select conversation_id from conversations
      where owner_id = ${ownerId} and created_at < ${keptSince(tx, ownerId, now)} and not exists (
        -- What its webhooks send is made of it, a moment after its end; then the event stands alone.
        select 1 from conversation_events as event
        where event.owner_id = conversations.owner_id and event.conversation_id = conversations.conversation_id
          and payload is null
      )
      order by created_at limit ${limit} for update skip locked`;
    const ids = expired.map(({ conversationId }) => conversationId);
    if (ids.length === 0) return 0;
    await tx`delete from messages where owner_id = ${ownerId} and conversation_id = any(${ids}::uuid[])`;
    await tx`delete from conversations where owner_id = ${ownerId} and conversation_id = any(${ids}::uuid[])`;
    return ids.length;
  }) as Promise<number>;
}
