import type { Fragment, Sql } from "@parley/shared/db/database";

/** The sums of a minute (0001_conversation: recent_figures). */
export const RECENT = [
  ...["ended", "failed", "replies", "cost_usd_micros", "tool_calls", "failed_tool_calls", "measured", "ms"],
] as const;

export const recentColumns = (sql: Sql): Fragment => sql`${sql([...RECENT])}`;

export const bucketOf = (sql: Sql): Fragment =>
  sql`case when latency_ms is null then -1 else latency_bucket(latency_ms) end`;

/** The same of changes. */
export const recentSums = (sql: Sql): Fragment => sql`
  count(ended), count(*) filter (where ended = 'FAILED'), sum(replies), sum(cost_usd_micros), sum(tool_calls),
  sum(failed_tool_calls), count(latency_ms), coalesce(sum(latency_ms), 0)`;

interface RecentFigures {
  ended: number;
  failed: number;
  replies: number;
  costUsdMicros: number;
  toolCalls: number;
  failedToolCalls: number;
  /** Replies that were measured. */
  measured: number;
  /** The mean of the latencies about the one that 95 % of the replies keep; null if none was measured. */
  p95Ms: number | null;
}

/** What has happened to an owner's conversations since the beginning of a minute. @param agentId null for all agents */
export async function readRecentFigures(
  sql: Sql,
  ownerId: string,
  agentId: string | null,
  since: Date,
): Promise<RecentFigures> {
  const ofAgent = agentId === null ? sql`` : sql`and agent_id = ${agentId}`;
  const [row] = await sql<[RecentFigures]>`
    with counted as (
      select bucket, ${recentColumns(sql)} from recent_figures
      where owner_id = ${ownerId} and minute >= date_trunc('minute', ${since}::timestamptz) ${ofAgent}
      union all
      select ${bucketOf(sql)}, ${recentSums(sql)} from figure_changes
      where owner_id = ${ownerId} and happened_at >= date_trunc('minute', ${since}::timestamptz) ${ofAgent}
      group by 1
    ), spread as (
      select bucket, sum(measured) as measured, sum(ms) as ms from counted where bucket >= 0 group by bucket
    ), running as (
      select bucket, ms / measured as mean_ms, sum(measured) over (order by bucket) as up_to,
        sum(measured) over () as all_measured
      from spread
    )
    select coalesce(sum(ended), 0)::integer as ended, coalesce(sum(failed), 0)::integer as failed,
      coalesce(sum(replies), 0)::integer as replies, coalesce(sum(cost_usd_micros), 0)::double precision as cost_usd_micros,
      coalesce(sum(tool_calls), 0)::integer as tool_calls,
      coalesce(sum(failed_tool_calls), 0)::integer as failed_tool_calls,
      coalesce(sum(measured), 0)::integer as measured,
      (select round(mean_ms)::integer from running where up_to >= 0.95 * all_measured order by bucket limit 1) as p95_ms
    from counted`;
  return row;
}

/** Deletes what is too old for any alert. */
export async function deleteOldFigures(sql: Sql, before: Date): Promise<void> {
  await sql`delete from recent_figures where minute < ${before}`;
}
