-- The events of each owner are relayed by a job of the owner (src/events/relay.ts). Whoever ends conversations enqueues it: a job that
-- runs then runs again, and one that waits runs earlier. In order of owner, so that two such statements cannot deadlock.
create function enqueue_event_relay() returns trigger language plpgsql set search_path from current as $$
begin
  -- Most updates are those of turns, and end nothing. Later ones of an ended conversation enqueue the job too, which then finds nothing
  -- to do: a join with the rows of before would compare each with each.
  if not exists (select from changed where status <> 'IN_PROGRESS') then
    return null;
  end if;
  insert into jobs (owner_id, job_id, queue, payload, due_at)
  select owner_id, 'relay-events', 'relay-events', '{}', min(updated_at) from changed
  where status <> 'IN_PROGRESS' and draft_id is null group by owner_id order by owner_id
  on conflict (owner_id, job_id) do update set due_at = least(jobs.due_at, excluded.due_at), attempts = 0
  -- The job is locked in any case, so that it is not claimed before the events can be seen.
  where jobs.due_at > excluded.due_at or jobs.attempts > 0;
  return null;
end $$;
create trigger conversations_relayed after update on conversations referencing new table as changed
  for each statement execute function enqueue_event_relay();
create trigger conversations_begun_relayed after insert on conversations referencing new table as changed
  for each statement execute function enqueue_event_relay();

-- As before, but without waking one relay of all owners.
create or replace function note_conversation_end() returns trigger language plpgsql set search_path from current as $$
begin
  insert into conversation_events (owner_id, conversation_id, event, ended_at, due_at, traceparent)
  values (new.owner_id, new.conversation_id, 'conversation.' || lower(new.status), new.updated_at, new.updated_at,
    new.traceparent);
  return null;
end $$;

-- The previous release's processes call it.
create or replace function wake_event_relay(moment timestamptz) returns void language sql as '';

-- The events of before.
delete from jobs where owner_id = '' and job_id = 'relay-events';
insert into jobs (owner_id, job_id, queue, payload, due_at)
select owner_id, 'relay-events', 'relay-events', '{}', min(due_at) from conversation_events
where due_at < 'infinity' group by owner_id
on conflict (owner_id, job_id) do nothing;

-- Events are looked for by owner.
drop index conversation_events_due;
