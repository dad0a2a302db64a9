import type { Sql } from "@parley/shared/db/database";
import { addingTo, type Fold } from "@parley/shared/folds/fold";
import { sums } from "./figures.ts";
import { bucketOf, RECENT, recentColumns, recentSums } from "./recent-figures.ts";
import { countedOfVersions } from "./version-figures.ts";

/**
 * What the figures of an owner and day name; their rows are kept for ever, and the owner chooses the names. Everything
 * further is summed under OTHER, so that totals stay exact.
 */
interface NamedMax {
  /** Agents with their channels and models. */
  figures: number;
  /** Agents with their channels, each of which has up to about 120 buckets of latency. */
  latencies: number;
  /** Versions of agents. Further ones are not counted, because a sum of other versions is of no use. */
  versions: number;
}

const NAMED_MAX: NamedMax = { figures: 1_000, latencies: 200, versions: 1_000 };

/** Agent, provider and model of what is not named; none of the owner's are called so. */
const OTHER = "OTHER";

/** What an owner's statistics and figures of versions are read from. */
export function figuresFold(namedMax = NAMED_MAX): Fold {
  return {
    changes: "figure_changes",
    sums: "figures",
    adding: (sql, ownerId) => sql`, days as materialized (
      select array_agg(distinct day) as days from taken
    ), ${namedFigures(sql, ownerId, namedMax.figures)}, ${namedLatencies(sql, ownerId, namedMax.latencies)}, summed as (
      insert into figures as known (owner_id, day, agent_id, type, provider, model, begun, completed, disconnected,
        failed, call_seconds, replies, input_tokens, output_tokens, cost_usd_micros, priced_replies)
      select ${ownerId}, day, case when is_named then agent_id else ${OTHER} end, type,
        case when is_named or provider = '' then provider else ${OTHER} end,
        case when is_named or provider = '' then model else ${OTHER} end, ${sums(sql)}
      from taken join named_figures using (day, agent_id, type, provider, model) group by 1, 2, 3, 4, 5, 6
      ${addingTo(sql, [...OF_DAY, "provider", "model"], SUMMED)}
    ), timed as (
      insert into figure_latencies as known (owner_id, day, agent_id, type, bucket, replies, ms)
      select ${ownerId}, day, case when is_named then agent_id else ${OTHER} end, type, latency_bucket(latency_ms), count(*),
        sum(latency_ms)
      from taken join named_latencies using (day, agent_id, type)
      where latency_ms is not null group by 1, 2, 3, 4, 5
      ${addingTo(sql, [...OF_DAY, "bucket"], ["replies", "ms"])}
    ), ${namedVersions(sql, ownerId, namedMax.versions)}, of_versions as (
      insert into version_figures as known (owner_id, ${sql(OF_VERSION)}, n, total, squares)
      select ${ownerId}, ${sql(OF_VERSION)}, n, total, squares
      from (${countedOfVersions(sql, sql`taken`)}) as counted join named_versions using (day, agent_id, agent_version)
      where is_named
      ${addingTo(sql, ["owner_id", ...OF_VERSION], ["n", "total", "squares"])}
    ), recent as (
      insert into recent_figures as known (owner_id, minute, agent_id, bucket, ${recentColumns(sql)})
      select ${ownerId}, date_trunc('minute', happened_at), agent_id, ${bucketOf(sql)}, ${recentSums(sql)}
      from taken group by 1, 2, 3, 4
      ${addingTo(sql, ["owner_id", "minute", "agent_id", "bucket"], RECENT)}
    )`,
  };
}

const OF_DAY = ["owner_id", "day", "agent_id", "type"];
const SUMMED = [
  ...["begun", "completed", "disconnected", "failed", "call_seconds", "replies"],
  ...["input_tokens", "output_tokens", "cost_usd_micros", "priced_replies"],
];

const OF_VERSION = ["day", "agent_id", "agent_version", "figure", "field", "value"];

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

function namedVersions(sql: Sql, ownerId: string, most: number) {
  return sql`
    known_versions as materialized (
      select distinct day, agent_id, agent_version, true as is_known from version_figures
      where owner_id = ${ownerId} and day = any((select days from days)::date[])
    ), named_versions as materialized (
      select day, agent_id, agent_version, is_known is not null or ${isAmongFirst(sql, most)} as is_named
      from (
        select day, agent_id, agent_version, min(change_id) as first_change from taken where agent_version is not null
        group by 1, 2, 3
      ) as wanted left join known_versions using (day, agent_id, agent_version)
        left join ${countOfDays(sql, "known_versions")} using (day)
    )`;
}

function isAmongFirst(sql: Sql, most: number) {
  return sql`row_number() over (partition by day, is_known order by first_change) + coalesce(known_of_day, 0) <= ${most}`;
}

function countOfDays(sql: Sql, known: string) {
  return sql`(select day, count(*) as known_of_day from ${sql(known)} group by day) as counts`;
}
