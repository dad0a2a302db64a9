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
-- Leads a claim from owner to owner, past however many jobs each has (claim.ts).
create index jobs_in_turn on jobs (queue, owner_id, claimable_at);
