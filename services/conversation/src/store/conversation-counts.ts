import type { Fold } from "@parley/shared/folds/fold";

/** How many conversations of each kind began in each minute, summed over spans of days. */
export const COUNTS: Fold = {
  changes: "conversation_changes",
  sums: "conversation_counts",
  adding: (sql, ownerId) => sql`, changed as (
    select agent.agent_id, span, day - day % span as first_day, type, calling_type, status, is_test, minute,
      sum(change) as more
    from taken
      cross join (values (1), (8), (64)) as spans (span)
      cross join lateral (values (''), (taken.agent_id), (taken.agent_id || ' ' || taken.agent_version)) as agent (agent_id)
    where agent.agent_id is not null
    group by 1, 2, 3, 4, 5, 6, 7, 8 having sum(change) <> 0
  ), kinds as (
    select distinct agent_id, span, first_day, type, calling_type, status, is_test from changed
  ), minute_counts as (
    select agent_id, span, first_day, type, calling_type, status, is_test, minute, sum(more) as count
    from (
      select * from changed
      union all
      select kinds.*, was.minute, was.running - was.before
      from kinds
        join conversation_counts as counts on counts.owner_id = ${ownerId} and counts.agent_id = kinds.agent_id
          and counts.span = kinds.span and counts.first_day = kinds.first_day and counts.type = kinds.type
          and counts.calling_type = kinds.calling_type and counts.status = kinds.status
          and counts.is_test = kinds.is_test
        cross join lateral unnest(counts.minutes, counts.running, array_prepend(0, trim_array(counts.running, 1)))
          as was (minute, running, before)
    ) as both_counts
    group by 1, 2, 3, 4, 5, 6, 7, 8
  ), recounted as (
    select agent_id, span, first_day, type, calling_type, status, is_test, sum(count) as total,
      array_agg(minute order by minute) filter (where count <> 0) as minutes,
      array_agg(running order by minute) filter (where count <> 0) as running
    from (
      select *, sum(count) over (
        partition by agent_id, span, first_day, type, calling_type, status, is_test order by minute
      ) as running
      from minute_counts
    ) as summed
    group by agent_id, span, first_day, type, calling_type, status, is_test
  ), refilled as (
    insert into conversation_counts
      (owner_id, agent_id, span, first_day, type, calling_type, status, is_test, total, minutes, running)
    select ${ownerId}, agent_id, span, first_day, type, calling_type, status, is_test, total, minutes, running
    from recounted where total <> 0
    on conflict (owner_id, agent_id, span, first_day, type, calling_type, status, is_test) do update set
      total = excluded.total, minutes = excluded.minutes, running = excluded.running
  ), emptied as (
    delete from conversation_counts as counts using recounted
    where recounted.total = 0 and counts.owner_id = ${ownerId} and counts.agent_id = recounted.agent_id
      and counts.span = recounted.span and counts.first_day = recounted.first_day and counts.type = recounted.type
      and counts.calling_type = recounted.calling_type and counts.status = recounted.status
      and counts.is_test = recounted.is_test
  )`,
};
