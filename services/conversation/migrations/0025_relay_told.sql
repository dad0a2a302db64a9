-- As before. Whoever commits tells the processes (src/store/tell-relay.ts): jobs have no trigger any more that an
-- unchanged payload would fire.
create or replace function wake_event_relay(moment timestamptz) returns void language sql set search_path from current as $$
  select pg_advisory_xact_lock_shared(hashtextextended(current_schema() || '.relay-events', 0));
  update jobs set due_at = moment
  from (
    select owner_id, job_id from jobs
    where owner_id = '' and job_id = 'relay-events' and due_at > moment and attempts = 0
    for update skip locked
  ) as asleep
  where jobs.owner_id = asleep.owner_id and jobs.job_id = asleep.job_id
$$;
