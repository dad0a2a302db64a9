import type { Database, Sql } from "@parley/shared/db/database";
import { sums } from "./figures.ts";

/** Most changes folded in one transaction. */
const BATCH = 20_000;

/**
 * What the figures of an owner and day name; their rows are kept for ever, and the owner chooses the names. Everything
 * further is summed under OTHER, so that totals stay exact.
 */
export interface NamedMax {
  /** Agents with their channels and models. */
  figures: number;
  /** Agents with their channels, each of which has up to about 120 buckets of latency. */
  latencies: number;
}

const NAMED_MAX: NamedMax = { figures: 1_000, latencies: 200 };

/** Agent, provider and model of what is not named; none of the owner's are called so. */
const OTHER = "OTHER";

/**
 * Moves an owner's pending changes into the figures in one transaction, so that a reader sees each change once. Returns
 * the number of changes.
 */
export async function foldFigureChanges(db: Database, ownerId: string, namedMax = NAMED_MAX): Promise<number> {
  return db.begin(async (tx) => {
    // Waits for a concurrent fold of this owner, such as one whose lease expired.
    await tx`select pg_advisory_xact_lock(hashtextextended(current_schema() || '.figures.' || ${ownerId}, 0))`;
    const [folded] = await tx<{ taken: number }[]>`
      with taken as (
        delete from figure_changes
        where owner_id = ${ownerId} and change_id <= (
          -- A range, because a set would be joined row by row: the table was empty when its statistics were collected.
          select max(change_id) from (
            select change_id from figure_changes where owner_id = ${ownerId} order by change_id limit ${BATCH}
          ) as first
        )
        returning *
      ), days as materialized (
        select array_agg(distinct day) as days from taken
      ), ${namedFigures(tx, ownerId, namedMax.figures)}, ${namedLatencies(tx, ownerId, namedMax.latencies)}, summed as (
        insert into figures as known (owner_id, day, agent_id, type, provider, model, begun, completed, disconnected,
          failed, call_seconds, replies, input_tokens, output_tokens, cost_usd_micros, priced_replies)
        select ${ownerId}, day, case when is_named then agent_id else ${OTHER} end, type,
          case when is_named or provider = '' then provider else ${OTHER} end,
          case when is_named or provider = '' then model else ${OTHER} end, ${sums(tx)}
        from taken join named_figures using (day, agent_id, type, provider, model) group by 1, 2, 3, 4, 5, 6
        on conflict (owner_id, day, agent_id, type, provider, model) do update set
          begun = known.begun + excluded.begun, completed = known.completed + excluded.completed,
          disconnected = known.disconnected + excluded.disconnected, failed = known.failed + excluded.failed,
          call_seconds = known.call_seconds + excluded.call_seconds, replies = known.replies + excluded.replies,
          input_tokens = known.input_tokens + excluded.input_tokens,
          output_tokens = known.output_tokens + excluded.output_tokens,
          cost_usd_micros = known.cost_usd_micros + excluded.cost_usd_micros,
          priced_replies = known.priced_replies + excluded.priced_replies
      ), timed as (
        insert into figure_latencies as known (owner_id, day, agent_id, type, bucket, replies, ms)
        select ${ownerId}, day, case when is_named then agent_id else ${OTHER} end, type, latency_bucket(latency_ms), count(*),
          sum(latency_ms)
        from taken join named_latencies using (day, agent_id, type)
        where latency_ms is not null group by 1, 2, 3, 4, 5
        on conflict (owner_id, day, agent_id, type, bucket) do update set
          replies = known.replies + excluded.replies, ms = known.ms + excluded.ms
      )
      select count(*) as taken from taken`;
    return folded?.taken ?? 0;
  }) as Promise<number>;
}

/** Which figures keep their names: those that have a row, and the first others while the day has room. */
function namedFigures(sql: Sql, ownerId: string, most: number) {
  return sql`
    known_figures as materialized (
      select day, agent_id, type, provider, model, true as is_known from figures
      where owner_id = ${ownerId} and day = any((select days from days)::date[])
    ), named_figures as materialized (
      select day, agent_id, type, provider, model, is_known is not null or ${isAmongFirst(sql, most)} as is_named
      from (
        select day, agent_id, type, provider, model, min(change_id) as first_change from taken group by 1, 2, 3, 4, 5
      ) as wanted left join known_figures using (day, agent_id, type, provider, model)
        left join ${countOfDays(sql, "known_figures")} using (day)
    )`;
}

function namedLatencies(sql: Sql, ownerId: string, most: number) {
  return sql`
    known_latencies as materialized (
      select distinct day, agent_id, type, true as is_known from figure_latencies
      where owner_id = ${ownerId} and day = any((select days from days)::date[])
    ), named_latencies as materialized (
      select day, agent_id, type, is_known is not null or ${isAmongFirst(sql, most)} as is_named
      from (
        select day, agent_id, type, min(change_id) as first_change from taken where latency_ms is not null group by 1, 2, 3
      ) as wanted left join known_latencies using (day, agent_id, type)
        left join ${countOfDays(sql, "known_latencies")} using (day)
    )`;
}

function isAmongFirst(sql: Sql, most: number) {
  return sql`row_number() over (partition by day, is_known order by first_change) + coalesce(known_of_day, 0) <= ${most}`;
}

function countOfDays(sql: Sql, known: string) {
  return sql`(select day, count(*) as known_of_day from ${sql(known)} group by day) as counts`;
}
