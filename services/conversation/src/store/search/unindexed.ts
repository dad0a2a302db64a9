import type { Fragment, Sql } from "@parley/shared/db/database";
import { type ConversationFilter, matching } from "../lists/conversation-filter.ts";
import { factsWanted } from "./facts.ts";
import { searchedValues } from "./searched-values.ts";

export interface Found {
  conversationId: string;
  /** When it began, in microseconds since 1970. */
  began: number;
}

/** Matches that are not indexed yet: of those in progress and the last that ended. */
interface Unindexed {
  total: number;
  /** The newest ones, newest first. */
  newest: Found[];
}

/**
 * Finds the matches that are not indexed yet.
 * @param indexed numbers below are indexed
 * @param limit of `newest`
 */
export async function findUnindexed(
  tx: Sql,
  filter: ConversationFilter,
  indexed: number,
  limit: number,
): Promise<Unindexed> {
  const rows = await tx<FoundRow[]>`
    with ${unindexed(tx, filter, tx`${indexed}::integer`, limit)}
    select total, conversation_id, began from counted left join newest on true
    order by began desc, conversation_id desc`;
  return unindexedOf(rows);
}

/** The same of an owner of whom nothing is indexed, in a snapshot of its own; null if the owner has an index. */
export async function findAllUnindexed(db: Sql, filter: ConversationFilter, limit: number): Promise<Unindexed | null> {
  const rows = await db<(FoundRow & { isIndexed: boolean })[]>`
    with state as materialized (
      select exists (select from search_owners where owner_id = ${filter.ownerId} and indexed > 0) as is_indexed
    ), ${unindexed(db, filter, db`(select 0 from state where not is_indexed)`, limit)}
    select is_indexed, total, conversation_id, began from state cross join counted left join newest on true
    order by began desc, conversation_id desc`;
  return rows[0]?.isIndexed ? null : unindexedOf(rows);
}

/** The conversation that the filter names, if it matches and contains the text. */
export async function findNamed(sql: Sql, filter: ConversationFilter): Promise<string[]> {
  const rows = await sql<{ conversationId: string }[]>`
    select conversation_id from conversations where ${matching(sql, filter)} and (${containing(sql, filter)})`;
  return rows.map(({ conversationId }) => conversationId);
}

type FoundRow = { total: number } & { [Field in keyof Found]: Found[Field] | null };

function unindexedOf(rows: readonly FoundRow[]): Unindexed {
  const newest = rows.flatMap(({ conversationId, began }) =>
    conversationId !== null && began !== null ? [{ conversationId, began }] : [],
  );
  return { total: rows[0]?.total ?? 0, newest };
}

/**
 * Common table expressions `counted`, which has one row, and `newest`.
 * @param first the lowest number that is not indexed, as an SQL value; null finds nothing
 */
function unindexed(sql: Sql, filter: ConversationFilter, first: Fragment, limit: number): Fragment {
  return sql`
    found as materialized (
      select conversation_id, created_at from ${numbered(sql, filter, first)} as conversations where ${matching(sql, filter)}
      union all
      select conversation_id, created_at
      from (
        select conversation_id as listed_id from search_waiting where owner_id = ${filter.ownerId} and ${first} is not null
      ) as waiting cross join lateral ${listed(sql, filter)} as conversations
      where ${matching(sql, filter)} and (${containing(sql, filter)})
    ), counted as (
      select count(*)::integer as total from found
    ), newest as (
      select conversation_id, (extract(epoch from created_at) * 1000000)::float8 as began
      from (select * from found order by created_at desc, conversation_id desc limit ${limit}) as ordered
    )`;
}

/** The numbered conversations that contain the text, with the columns that the filter needs. */
function numbered(sql: Sql, filter: ConversationFilter, first: Fragment): Fragment {
  const { ownerId } = filter;
  const documents = sql`
    search_documents as document
    where owner_id = ${ownerId} and number >= ${first} and strpos(text, ${wanted(sql, filter)}) > 0`;
  if (factsWanted(filter).length > 0) {
    return sql`(
      select conversations.* from (select conversation_id as listed_id from ${documents}) as documents
        cross join lateral ${listed(sql, filter)} as conversations
    )`;
  }
  return sql`(
    select owner_id, conversation_id, began_at as created_at from ${documents}
  )`;
}

/** The row of the conversation `listed_id`. */
function listed(sql: Sql, { ownerId }: ConversationFilter): Fragment {
  return sql`(
    select * from conversations where owner_id = ${ownerId} and conversation_id = listed_id
    -- Looks up those few: the planner would rather read all that the owner has.
    offset 0
  )`;
}

/** Whether any message or given value of a row of `conversations` contains the text. */
function containing(sql: Sql, filter: ConversationFilter): Fragment {
  return sql`
    exists (
      select 1 from messages
      where messages.owner_id = ${filter.ownerId} and messages.conversation_id = conversations.conversation_id
        and strpos(lower(content), ${wanted(sql, filter)}) > 0
    )
    or exists (
      select 1 from ${searchedValues(sql)} as searched where strpos(lower(value), ${wanted(sql, filter)}) > 0
    )`;
}

/** The text in lower case, computed once a statement. */
function wanted(sql: Sql, { search }: ConversationFilter): Fragment {
  return sql`(select lower(${search}))`;
}
