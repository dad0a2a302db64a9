-- Work that must happen though the process that asked for it may die. A row is deleted when its work is done.
create table jobs (
  owner_id text not null,
  -- Chosen by who enqueues: the same one twice is one job.
  job_id text not null,
  queue text not null,
  payload jsonb not null,
  -- When it may be claimed: its time, or while it runs the end of its lease.
  due_at timestamptz not null,
  attempts integer not null default 0,
  last_error text,
  primary key (owner_id, job_id)
);
create index jobs_due on jobs (queue, due_at);

create function notify_jobs() returns trigger language plpgsql as $$
begin
  perform pg_notify(current_schema() || '.jobs', new.queue);
  return null;
end $$;
create trigger jobs_notify after insert on jobs for each row execute function notify_jobs();
