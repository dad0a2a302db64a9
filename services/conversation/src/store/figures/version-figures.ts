import type { Fragment, Sql } from "@parley/shared/db/database";

/**
 * What is counted of a version's conversations. By `value`: outcomes, call_outcomes, text_latency and call_latency (latency_bucket). With a
 * total and, of call_seconds and numbers, squares: call_seconds, cost, the latencies, numbers. By `field` of the analysis: booleans,
 * literals, numbers.
 */
export type CountedFigure =
  | "conversations"
  | "outcomes"
  | "call_outcomes"
  | "tool_failures"
  | "call_seconds"
  | "replies"
  | "cost"
  | "text_latency"
  | "call_latency"
  | "booleans"
  | "literals"
  | "numbers";

export interface CountedRow {
  agentVersion: number;
  figure: CountedFigure;
  field: string;
  value: string;
  n: number;
  total: number;
  mean: number;
  /** Of the values in `total`; 0 of a single one. */
  variance: number;
}

/** Fields of one analysis that are counted, and characters of their names and values. */
const FIELDS_MAX = 100;
const TEXT_MAX = 200;

interface VersionsFilter {
  ownerId: string;
  agentId: string;
  agentVersions: readonly number[];
  /** YYYY-MM-DD, UTC, both inclusive; null: all days. */
  days: { first: string; last: string } | null;
}

/** What is counted of versions, with what is not folded yet. */
export async function listVersionFigures(sql: Sql, filter: VersionsFilter): Promise<CountedRow[]> {
  const { ownerId, agentId, agentVersions, days } = filter;
  const ofDays = days ? sql`and day between ${days.first}::date and ${days.last}::date` : sql``;
  const areWanted = sql`owner_id = ${ownerId} and agent_id = ${agentId}
    and agent_version = any(${agentVersions as number[]}::integer[]) ${ofDays}`;
  return sql<CountedRow[]>`
    with counted as (
      select agent_version, figure, field, value, n, total, squares from version_figures where ${areWanted}
      union all
      select agent_version, figure, field, value, n, total, squares
      from (${countedOfVersions(sql, sql`(select * from figure_changes where ${areWanted}) as changes`)}) as pending
    )
    select agent_version, figure, field, value, sum(n)::double precision as n, sum(total)::double precision as total,
      (sum(total) / sum(n))::double precision as mean,
      case when sum(n) > 1
        then greatest((sum(n) * sum(squares) - sum(total) ^ 2) / (sum(n) * (sum(n) - 1)), 0) else 0
      end::double precision as variance
    from counted group by agent_version, figure, field, value having sum(n) > 0`;
}

/** What changes add to the figures of versions. */
export function countedOfVersions(sql: Sql, changes: Fragment): Fragment {
  return sql`
    select day, agent_id, agent_version, figure, field, value, sum(n)::bigint as n, sum(counted.total) as total,
      sum(counted.squares) as squares
    from ${changes} cross join lateral (
      values ('conversations', '', '', begun::integer, 0::numeric, 0::numeric),
        ('outcomes', '', ended, num_nonnulls(ended), 0, 0),
        ('call_outcomes', '', outcome, num_nonnulls(outcome), 0, 0),
        ('tool_failures', '', '', with_failed_tool, 0, 0),
        ('call_seconds', '', '', timed_calls, call_seconds::numeric, call_seconds::numeric ^ 2),
        ('replies', '', '', replies, 0, 0),
        ('cost', '', '', priced_replies, cost_usd_micros, 0),
        (case when type in ('CHAT', 'WHATSAPP') then 'text_latency' else 'call_latency' end, '',
          latency_bucket(latency_ms)::text, num_nonnulls(latency_ms), latency_ms, 0)
      union all ${countedOfAnalysis(sql)}
    ) as counted (figure, field, value, n, total, squares)
    where agent_version is not null and n <> 0
    group by day, agent_id, agent_version, figure, field, value`;
}

/** A text counts if its field has few: those of a literal. No number of use is above 1e100, whose square is a number too. */
function countedOfAnalysis(sql: Sql): Fragment {
  return sql`
    select kind, left(name, ${TEXT_MAX}), case kind when 'numbers' then '' else left(value #>> '{}', ${TEXT_MAX}) end, analyses,
      coalesce(analyses * number, 0), coalesce(analyses * number * number, 0)
    from (
      select name, value, case jsonb_typeof(value) when 'number' then value::numeric end as number,
        case jsonb_typeof(value) when 'boolean' then 'booleans' when 'number' then 'numbers'
          when 'string' then case when type ~ '^\\s*(Optional\\s*\\[\\s*)*Literal' then 'literals' end end as kind
      from jsonb_to_recordset(analysis) as item (name text, value jsonb, type text) limit ${FIELDS_MAX}
    ) as items
    where kind is not null and coalesce(abs(number), 0) < 1e100`;
}
