import type { Sql } from "@parley/shared/db/database";

interface UsageDay {
  /** YYYY-MM-DD, UTC. */
  day: string;
  conversations: number;
  replies: number;
  inputTokens: number;
  outputTokens: number;
  /** In millionths of a US dollar, of the replies whose cost is known. */
  costUsdMicros: number;
  /** Replies whose cost is unknown. */
  unpricedReplies: number;
}

/** Every day from `first` to `last`, both inclusive, as YYYY-MM-DD, oldest first. */
export async function listUsage(sql: Sql, ownerId: string, first: string, last: string): Promise<UsageDay[]> {
  return sql<UsageDay[]>`
    select to_char(asked.day, 'YYYY-MM-DD') as day, coalesce(sum(conversations), 0)::integer as conversations,
      coalesce(sum(replies), 0)::integer as replies, coalesce(sum(input_tokens), 0)::bigint as input_tokens,
      coalesce(sum(output_tokens), 0)::bigint as output_tokens,
      coalesce(sum(cost_usd_micros), 0)::bigint as cost_usd_micros,
      greatest(coalesce(sum(replies - priced_replies), 0), 0)::integer as unpriced_replies
    from generate_series(${first}::date, ${last}::date, interval '1 day') as asked (day)
      left join usage_days on owner_id = ${ownerId} and usage_days.day = asked.day::date
        and usage_days.day between ${first}::date and ${last}::date
    group by asked.day order by asked.day`;
}
