-- Work that must happen though the process that asked for it may die. A row is deleted when its work is done.
create table jobs (
  owner_id text not null,
  -- Chosen by who enqueues: the same one twice is one job.
  job_id text not null,
  queue text not null,
  payload jsonb not null,
  -- When it is to run; infinity once given up.
  due_at timestamptz not null,
  -- While it runs: when its run, if not heard of again, is taken to be dead.
  leased_until timestamptz,
  -- Grows with every claim and every end of a run and never goes back, so that a run can tell whether the job is still its own.
  lease bigint not null default 0,
  -- Runs since it was enqueued or last succeeded.
  attempts integer not null default 0,
  last_error text,
  -- W3C trace context of whoever asked for it last, which the run is a part of.
  traceparent text,
  claimable_at timestamptz not null generated always as (greatest(due_at, leased_until)) stored,
  primary key (owner_id, job_id)
);
create index jobs_claimable on jobs (queue, claimable_at);

create function notify_jobs() returns trigger language plpgsql as $$
begin
  perform pg_notify(tg_table_schema || '.jobs', new.queue);
  return null;
end $$;
-- Only what the next poll (worker.ts: POLL_MS) would find too late: commits that notify wait for each other.
create trigger jobs_notify after insert or update of payload on jobs
  for each row when (new.due_at <= now() + interval '2 seconds') execute function notify_jobs();
