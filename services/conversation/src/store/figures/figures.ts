import type { Fragment, Sql } from "@parley/shared/db/database";
import type { TypeName } from "../conversations.ts";

interface FigureFilter {
  ownerId: string;
  /** YYYY-MM-DD, UTC, both inclusive. */
  first: string;
  last: string;
  /** Empty: all agents. */
  agentId: string;
}

interface Figures {
  begun: number;
  completed: number;
  disconnected: number;
  failed: number;
  callSeconds: number;
  replies: number;
  inputTokens: number;
  outputTokens: number;
  /** In millionths of a US dollar, of the replies whose cost is known. */
  costUsdMicros: number;
  /** Replies whose cost is unknown. */
  unpricedReplies: number;
}

/** The figures of a day and channel, of an agent, or of a model: the fields of the other two are null. */
export interface FigureRow extends Figures {
  day: string | null;
  type: TypeName | null;
  agentId: string | null;
  provider: string | null;
  model: string | null;
}

/**
 * Sums an owner's figures by day and channel, by agent, and by model; without those of no model. Of agents and models, returns those
 * with the most conversations or replies: their names are the owner's, who may use a new one for each reply.
 */
export async function listFigures(sql: Sql, filter: FigureFilter, mostMax: number): Promise<FigureRow[]> {
  return sql<FigureRow[]>`
    with counted as (
      select day, agent_id, type, provider, model, begun, completed, disconnected, failed, call_seconds, replies,
        input_tokens, output_tokens, cost_usd_micros, priced_replies
      from figures where ${matching(sql, filter)}
      union all
      select day, agent_id, type, provider, model, ${sums(sql)}
      from figure_changes where ${matching(sql, filter)} group by 1, 2, 3, 4, 5
    ), summed as (
      select to_char(day, 'YYYY-MM-DD') as day, type, agent_id, provider, model, sum(begun)::bigint as begun,
        sum(completed)::bigint as completed, sum(disconnected)::bigint as disconnected, sum(failed)::bigint as failed,
        sum(call_seconds) as call_seconds, sum(replies)::bigint as replies, sum(input_tokens)::bigint as input_tokens,
        sum(output_tokens)::bigint as output_tokens, sum(cost_usd_micros)::bigint as cost_usd_micros,
        greatest(sum(replies - priced_replies), 0)::bigint as unpriced_replies,
        row_number() over (
          partition by grouping(agent_id), grouping(provider)
          order by case when grouping(agent_id) = 0 then sum(begun) else sum(replies) end desc
        ) as place
      from counted
      group by grouping sets ((day, type), (agent_id), (provider, model))
      having provider is distinct from ''
    )
    select day, type, agent_id, provider, model, begun, completed, disconnected, failed, call_seconds, replies, input_tokens,
      output_tokens, cost_usd_micros, unpriced_replies
    from summed where day is not null or place <= ${mostMax}`;
}

interface LatencyRow {
  /** Null: of all days together. */
  day: string | null;
  isCall: boolean;
  /** Replies that were measured. */
  replies: number;
  p50Ms: number;
  p95Ms: number;
}

/** The latencies of an owner's replies, in calls and elsewhere, by day and over all days. */
export async function listLatencies(sql: Sql, filter: FigureFilter): Promise<LatencyRow[]> {
  return sql<LatencyRow[]>`
    with counted as (
      select day, type, bucket, replies, ms from figure_latencies where ${matching(sql, filter)}
      union all
      select day, type, latency_bucket(latency_ms), 1, latency_ms
      from figure_changes where ${matching(sql, filter)} and latency_ms is not null
    ), spread as (
      select day, type not in ('CHAT', 'WHATSAPP') as is_call, bucket, sum(replies) as replies,
        sum(ms)::double precision / sum(replies)::double precision as mean_ms
      from counted group by grouping sets ((day, is_call, bucket), (is_call, bucket))
    ), running as (
      select day, is_call, bucket, mean_ms, sum(replies) over (partition by day, is_call order by bucket) as up_to,
        sum(replies) over (partition by day, is_call) as replies
      from spread
    )
    select to_char(day, 'YYYY-MM-DD') as day, is_call, max(replies)::integer as replies,
      round((${ofRank(sql, sql`0.5 * replies`)} + ${ofRank(sql, sql`0.5 * replies + 0.5`)}) / 2)::integer as p50_ms,
      round(${ofRank(sql, sql`0.95 * replies`)})::integer as p95_ms
    from running group by running.day, is_call`;
}

/** The mean of the bucket in which the reply of a rank lies, in milliseconds. */
function ofRank(sql: Sql, rank: Fragment) {
  return sql`(array_agg(mean_ms order by bucket) filter (where up_to >= ${rank}))[1]`;
}

function matching(sql: Sql, { ownerId, first, last, agentId }: FigureFilter) {
  const ofAgent = agentId === "" ? sql`` : sql`and agent_id = ${agentId}`;
  return sql`owner_id = ${ownerId} and day between ${first}::date and ${last}::date ${ofAgent}`;
}

/** The sums of changes. */
export function sums(sql: Sql) {
  return sql`
    sum(begun) as begun, count(*) filter (where ended = 'COMPLETED') as completed,
    count(*) filter (where ended = 'DISCONNECTED') as disconnected, count(*) filter (where ended = 'FAILED') as failed,
    sum(call_seconds) as call_seconds, sum(replies) as replies, sum(input_tokens) as input_tokens,
    sum(output_tokens) as output_tokens, sum(cost_usd_micros) as cost_usd_micros, sum(priced_replies) as priced_replies`;
}
