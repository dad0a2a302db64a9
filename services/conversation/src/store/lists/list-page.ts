import type { Sql } from "@parley/shared/db/database";
import { type ConversationFilter, matching } from "./conversation-filter.ts";
import { countedRange } from "./count-periods.ts";

export interface Page {
  /** 1 is the first. */
  number: number;
  size: number;
}

export interface FoundPage {
  /** Newest first. */
  conversationIds: string[];
  /** Over all pages. */
  total: number;
}

/**
 * Finds a page of conversations and the total number of matches in one statement, from the counts
 * (0001_conversation). It picks the longest time spans that hold the page, then the shorter spans within them,
 * down to minutes, and reads only the rows of those minutes. The cost hardly depends on the number of conversations, on
 * how rare the matches are, or on the page number.
 */
export async function findCountedPage(sql: Sql, filter: ConversationFilter, page: Page): Promise<FoundPage> {
  const range = countedRange(filter.from, filter.to, filter.timeOfDay);
  if (!range) return { conversationIds: [], total: 0 };
  const { periods, newer, older } = range;
  const offset = (page.number - 1) * page.size;
  const kinds = kindsOf(sql, filter);
  const rows = await sql<{ total: number; conversationId: string | null }[]>`
    with recent as materialized (
      select day, minute, sum(change)::integer as count from conversation_changes as kind
      where owner_id = ${filter.ownerId} ${filter.agentId === "" ? sql`` : sql`and agent_id = ${filter.agentId}`}
        ${filter.agentVersion === null ? sql`` : sql`and agent_version = ${filter.agentVersion}`} ${kinds}
      group by day, minute having sum(change) <> 0
    ), broken as materialized (
      select
        ${newer ? sql`(select count(*) from conversations where ${matching(sql, { ...filter, ...newer })})` : sql`0`} as newer,
        ${older ? sql`(select count(*) from conversations where ${matching(sql, { ...filter, ...older })})` : sql`0`} as older
    ), periods_0 as (
      select * from unnest(${periods.map((part) => part.span)}::smallint[], ${periods.map((part) => part.firstDay)}::integer[],
        ${periods.map((part) => part.lastDay)}::integer[], ${periods.map((part) => part.fromMinute)}::smallint[],
        ${periods.map((part) => part.toMinute)}::smallint[]) as part (span, first_day, last_day, from_minute, to_minute)
    ), ${countLevel(sql, filter, 0, offset, page.size)}
    ), ${descend(sql, 0)}
    ), ${countLevel(sql, filter, 1, offset, page.size)}
    ), ${descend(sql, 1)}
    ), ${countLevel(sql, filter, 2, offset, page.size)}
    ), minutes as (
      select day, minute, sum(count) as count,
        (select min(before) from found_2) + sum(sum(count)) over (order by day desc, minute desc) - sum(count) as before
      from (
        select found.first_day as day, taken.minute, taken.running - taken.before as count
        from found_2 as found
          join periods_2 as part on part.first_day <= found.first_day and part.last_day >= found.first_day
          join conversation_counts as kind on kind.owner_id = ${filter.ownerId} and kind.agent_id = ${countedAs(filter)}
            and kind.span = 1 and kind.first_day = found.first_day ${kinds}
          cross join lateral (
            select width_bucket(part.to_minute, kind.minutes) as last,
              greatest(
                width_bucket((part.from_minute - 1)::smallint, kind.minutes) + 1,
                -- Every minute has at least one, so as many minutes from the end as rows are wanted have all of this day's.
                width_bucket(part.to_minute, kind.minutes) + 1 - ${offset + page.size}::bigint + found.before
                  + (select coalesce(sum(count), 0) from recent where day = found.first_day and count < 0)
              )::integer as first
          ) as slice
          cross join lateral unnest(
            kind.minutes[slice.first:slice.last], kind.running[slice.first:slice.last],
            (array_prepend(0, kind.running))[slice.first:slice.last]
          ) as taken (minute, running, before)
        union all
        select recent.day, recent.minute, recent.count
        from found_2 as found
          join periods_2 as part on part.first_day <= found.first_day and part.last_day >= found.first_day
          join recent on recent.day = found.first_day and recent.minute between part.from_minute and part.to_minute
      ) as counted
      group by day, minute
    ), wanted as (
      select * from minutes where count > 0 and before < ${offset + page.size} and before + count > ${offset}
    ), candidates as materialized (
      ${
        newer
          ? sql`select conversation_id, created_at from conversations
              where (select newer from broken) > ${offset} and ${matching(sql, { ...filter, ...newer })}
              union all`
          : sql``
      }
      select conversation_id, created_at
      from wanted cross join lateral (
        select conversation_id, created_at from conversations
        where ${matching(sql, { ...filter, from: null, to: null, timeOfDay: null })}
          and created_at >= to_timestamp((wanted.day * 1440::bigint + wanted.minute) * 60)
          and created_at < to_timestamp((wanted.day * 1440::bigint + wanted.minute + 1) * 60)
        -- Keeps the minutes outermost: the planner prefers to read all of the owner's conversations, newest first. In order, so that
        -- it looks for each minute's in an index by time, though it may know of no owner with more than one.
        order by created_at desc, conversation_id desc offset 0
      ) as of_minute
      ${
        older
          ? sql`union all
              select conversation_id, created_at from conversations
              where (select newer + counted from broken, summed_0) < ${offset + page.size}
                and ${matching(sql, { ...filter, ...older })}`
          : sql``
      }
    ), page as (
      select conversation_id, created_at from candidates
      order by created_at desc, conversation_id desc
      limit ${page.size} offset greatest(0, ${offset}::bigint - case
        when (select newer from broken) > ${offset} then 0
        else coalesce((select min(before) from wanted), (select newer + counted from broken, summed_0))
      end)
    )
    select (newer + counted + older)::integer as total, conversation_id
    from broken cross join summed_0 left join page on true
    order by created_at desc, conversation_id desc`;
  return {
    total: rows[0]?.total ?? 0,
    conversationIds: rows.flatMap(({ conversationId }) => conversationId ?? []),
  };
}

/** Counts the periods of a level and finds those that hold part of the page, with the number of newer matches before each. */
function countLevel(sql: Sql, filter: ConversationFilter, level: 0 | 1 | 2, offset: number, size: number) {
  const name = (what: string) => sql(`${what}_${level}`);
  const newer =
    level === 0 ? sql`(select newer from broken)` : sql`(select min(before) from ${sql(`found_${level - 1}`)})`;
  return sql`
    ${name("counted")} as materialized (
      select span, first_day, sum(count) as count
      from (
        select part.span, kind.first_day,
          case when part.from_minute = 0 and part.to_minute = 1439 then kind.total
            else coalesce(kind.running[width_bucket(part.to_minute, kind.minutes)], 0)
              - coalesce(kind.running[width_bucket((part.from_minute - 1)::smallint, kind.minutes)], 0)
          end as count
        from ${name("periods")} as part
          join conversation_counts as kind on kind.owner_id = ${filter.ownerId} and kind.agent_id = ${countedAs(filter)}
            and kind.span = part.span and kind.first_day between part.first_day and part.last_day ${kindsOf(sql, filter)}
        union all
        select part.span, recent.day - recent.day % part.span, recent.count
        from ${name("periods")} as part
          join recent on recent.day between part.first_day and part.last_day + part.span - 1
            and recent.minute between part.from_minute and part.to_minute
      ) as both_counts
      group by span, first_day
    ), ${name("summed")} as (
      select coalesce(sum(count), 0) as counted from ${name("counted")}
    ), ${name("found")} as materialized (
      select span, first_day, before
      from (
        select *, ${newer} + sum(count) over (order by first_day desc) - count as before from ${name("counted")}
      ) as ordered
      where count > 0 and before < ${offset + size} and before + count > ${offset}`;
}

/** The spans of the next level: those within the found ones, or a found one itself when it is already that short. */
function descend(sql: Sql, level: 0 | 1) {
  const longest = level === 0 ? 8 : 1;
  return sql`
    ${sql(`periods_${level + 1}`)} as (
      select least(found.span, ${longest})::smallint as span, found.first_day,
        found.first_day + found.span - least(found.span, ${longest}) as last_day, part.from_minute, part.to_minute
      from ${sql(`found_${level}`)} as found
        join ${sql(`periods_${level}`)} as part on part.span = found.span
          and found.first_day between part.first_day and part.last_day`;
}

/** The counts of a version are beside those of its agent. */
function countedAs({ agentId, agentVersion }: ConversationFilter): string {
  return agentVersion === null ? agentId : `${agentId} ${agentVersion}`;
}

/** Filters the kinds of conversations, without the agent: the counts of all agents together have an empty agent id. */
function kindsOf(sql: Sql, { type, callingType, status, isTest }: ConversationFilter) {
  return sql`
    ${type === null ? sql`` : sql`and kind.type = ${type}`}
    ${callingType === null ? sql`` : sql`and kind.calling_type = ${callingType}`}
    ${status === null ? sql`` : sql`and kind.status = ${status}`}
    ${isTest === null ? sql`` : sql`and kind.is_test = ${isTest}`}`;
}
