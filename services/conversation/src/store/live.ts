import type { Database, Sql } from "@parley/shared/db/database";
import type { SessionKey } from "./session-key.ts";

/** What is watched: a conversation, or, with `EVERYTHING` as its id, the starts and ends of all of an owner's. */
export type Topic = SessionKey;

export const EVERYTHING = "00000000-0000-0000-0000-000000000000";

/** Has the reply that is written in a conversation stopped, in whichever process, once `sql` has committed. */
export async function stopReply(sql: Sql, { ownerId, conversationId }: SessionKey): Promise<void> {
  await sql`select pg_notify(current_schema() || ${`.${LIVE}`}, ${`stop ${ownerId} ${conversationId}`})`;
}

/** The channel in which processes hear `told <owner> <conversation>` `stop <owner> <conversation>` and `words <owner> <conversation> <until when they are wanted>`. */
export const LIVE = "live";

export interface LiveEventRow {
  number: number;
  event: string;
  data: Record<string, unknown>;
}

interface TopicRow {
  /** Of the newest event. */
  number: number;
  toldSeq: number;
}

/** For how long somebody watches or may go on watching, and wants to be told words of messages in progress. */
export interface Watching {
  until: Date;
  /** Null: only whole messages. */
  wordsUntil: Date | null;
}

/**
 * Has a conversation tell what happens in it. Whatever is not told from now on is committed, so a reader sees it.
 * @returns false when it is no longer in progress
 */
export function watchConversation(db: Database, key: Topic, watching: Watching, now: Date): Promise<boolean> {
  return db.begin(async (tx): Promise<boolean> => {
    await tx`select pg_advisory_xact_lock(lock_live_topic(${key.ownerId}, ${key.conversationId}))`;
    const [row] = await tx`
      update conversations set watched_until = greatest(watched_until, ${watching.until})
      where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and status = 'IN_PROGRESS'
      returning 1`;
    if (!row) return false;
    await upsertTopic(tx, key, watching, now);
    return true;
  }) as Promise<boolean>;
}

/** The same for the starts and ends of all of an owner's conversations. */
export async function watchEverything(db: Database, ownerId: string, watching: Watching, now: Date): Promise<void> {
  const key = { ownerId, conversationId: EVERYTHING };
  await db.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(lock_live_topic(${ownerId}, ${EVERYTHING}))`;
    await upsertTopic(tx, key, watching, now);
  });
}

/** What the conversation has said and done by now is not told. */
async function upsertTopic(tx: Sql, key: Topic, { until, wordsUntil }: Watching, now: Date): Promise<void> {
  await tx`
    insert into live_topics (owner_id, conversation_id, number, watched_until, words_until, told_seq, told_agents)
    select ${key.ownerId}, ${key.conversationId}, ${now.getTime()}, ${until}, ${wordsUntil ?? now}, coalesce(max(seq), 0),
      coalesce(max(agents), 0)
    from (
      select case when turn_id is null or role is distinct from 'assistant' then message_count else message_count - 1 end as seq,
        greatest(jsonb_array_length(coalesce(agent_path, '[]')) - 1, 0) as agents
      from conversations left join messages
        on messages.owner_id = conversations.owner_id and messages.conversation_id = conversations.conversation_id
          and seq = message_count
      where conversations.owner_id = ${key.ownerId} and conversations.conversation_id = ${key.conversationId}
    ) as so_far
    on conflict (owner_id, conversation_id) do update set
      watched_until = greatest(live_topics.watched_until, excluded.watched_until),
      words_until = greatest(live_topics.words_until, excluded.words_until)`;
  if (wordsUntil === null) return;
  const wanted = `words ${key.ownerId} ${key.conversationId} ${wordsUntil.getTime()}`;
  await tx`select pg_notify(current_schema() || ${`.${LIVE}`}, ${wanted})`;
}

export async function findTopic(sql: Sql, key: Topic): Promise<TopicRow | null> {
  const [row] = await sql<TopicRow[]>`
    select number, told_seq from live_topics
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId}`;
  return row ?? null;
}

/** Events after this one, in order, without a gap; null when it, or one after it, is not known anymore. */
export async function listEventsAfter(
  sql: Sql,
  key: Topic,
  after: number,
  limit: number,
): Promise<LiveEventRow[] | null> {
  // One statement, so that no event comes in between.
  const rows = await sql<(LiveEventRow & { newest: number; event: string | null })[]>`
    select live_topics.number as newest, later.number, event, data from live_topics left join lateral (
      select number, event, data from live_events
      where owner_id = live_topics.owner_id and conversation_id = live_topics.conversation_id and number > ${after}
      order by number limit ${limit}
    ) as later on true
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId}
    order by later.number`;
  const [first] = rows;
  if (!first) return null;
  if (first.event === null) return first.newest === after ? [] : null;
  return first.number === after + 1 ? rows : null;
}

/** The words told of messages that are not whole yet, in order. */
export async function listOpenWords(sql: Sql, key: Topic, toldSeq: number): Promise<LiveEventRow[]> {
  return sql<LiveEventRow[]>`
    select number, event, data from live_events
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and event = 'words'
      and (data ->> 'seq')::integer > ${toldSeq}
    order by number`;
}

/** An event that no other table has. */
export interface Telling {
  event: "words" | "speaking" | "agent" | "transfer";
  data: Record<string, unknown>;
}

/**
 * Tells events to those who want words. Words of a message that is whole by now are left out; those without a `seq` get that of the next
 * message.
 * @returns false when nobody wants them anymore
 */
export async function tellWords(sql: Sql, key: Topic, events: readonly Telling[], now: Date): Promise<boolean> {
  const [topic] = await sql<{ wanted: boolean }[]>`
    with topic as (
      select number, told_seq from live_topics
      where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and words_until >= ${now} for update
    ), given as (
      select event, case when event = 'words' then jsonb_build_object('seq', told_seq + 1) || data else data end as data, place
      from topic, unnest(${events.map(({ event }) => event)}::text[], ${events.map(({ data }) => JSON.stringify(data))}::text[]::jsonb[])
        with ordinality as given (event, data, place)
    ), wanted as (
      select event, data, row_number() over (order by place) as place from given, topic
      where event <> 'words' or (data ->> 'seq')::integer > told_seq
    ), told as (
      insert into live_events (owner_id, conversation_id, number, event, data)
      select ${key.ownerId}, ${key.conversationId}, number + place, event, data from wanted, topic
    ), counted as (
      update live_topics set number = live_topics.number + (select count(*) from wanted)
      from topic where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId}
    )
    select true as wanted, pg_notify(current_schema() || ${`.${LIVE}`}, ${`told ${key.ownerId} ${key.conversationId}`}) from topic`;
  return topic !== undefined;
}

/** The topics whose words are wanted now. */
export async function listWordTopics(sql: Sql, now: Date): Promise<(Topic & { wordsUntil: Date })[]> {
  return sql<(Topic & { wordsUntil: Date })[]>`
    select owner_id, conversation_id, words_until from live_topics where words_until > ${now}`;
}

/** Deletes what nobody may ask for anymore. @param keptMs how long an event is kept */
export async function deleteOldEvents(sql: Sql, now: Date, keptMs: number): Promise<void> {
  await sql`
    with gone as (
      delete from live_topics where watched_until < ${now} returning owner_id, conversation_id
    )
    delete from live_events using gone
    where live_events.owner_id = gone.owner_id and live_events.conversation_id = gone.conversation_id`;
  await sql`delete from live_events where told_at < clock_timestamp() - ${keptMs} * interval '1 millisecond'`;
}
