-- The event of a conversation that ended, from the transaction that ended it until the webhook dispatcher has it.
create table conversation_events (
  owner_id text not null,
  conversation_id uuid not null,
  -- The event's id is made of it (evt_…).
  event_uuid uuid not null default uuidv7(),
  event text not null,
  ended_at timestamptz not null,
  -- When it is to be seen to: sent, or sent again, or sent without the analysis it waits for.
  due_at timestamptz not null,
  -- The analysis is asked for; its end moves due_at.
  awaits_analysis boolean not null default false,
  -- What every attempt sends, byte for byte; null until the first.
  payload text,
  attempts integer not null default 0,
  -- W3C trace context of what ended the conversation: the deliveries are a part of that trace.
  traceparent text,
  primary key (owner_id, conversation_id)
);
create index conversation_events_due on conversation_events (due_at);

-- Lets the relay run at a time, unless it runs, will before, or is backing off from a dispatcher that is away. The job is there
-- as long as a process has ever run (src/events/relay.ts). Nobody waits here: who finds the row locked leaves it, and the relay
-- looks again by itself soon after.
create function wake_event_relay(moment timestamptz) returns void language sql set search_path from current as $$
  update jobs set due_at = moment, payload = jobs.payload
  from (
    select owner_id, job_id from jobs
    where owner_id = '' and job_id = 'relay-events' and due_at > moment and attempts = 0
    for update skip locked
  ) as asleep
  where jobs.owner_id = asleep.owner_id and jobs.job_id = asleep.job_id
$$;

-- Set by the statement that ends it.
alter table conversations add column traceparent text;

-- Whatever ends a conversation, one event is stored with it: no path can forget it.
create function note_conversation_end() returns trigger language plpgsql set search_path from current as $$
begin
  insert into conversation_events (owner_id, conversation_id, event, ended_at, due_at, traceparent)
  values (new.owner_id, new.conversation_id, 'conversation.' || lower(new.status), new.updated_at, new.updated_at,
    new.traceparent);
  perform wake_event_relay(new.updated_at);
  return null;
end $$;
create trigger conversations_ended after update of status on conversations
  for each row when (old.status = 'IN_PROGRESS' and new.status <> 'IN_PROGRESS') execute function note_conversation_end();
create trigger conversations_begun_ended after insert on conversations
  for each row when (new.status <> 'IN_PROGRESS') execute function note_conversation_end();

-- And none ends twice (decisions.md: Calls and the other channels).
create function refuse_another_end() returns trigger language plpgsql as $$
begin
  raise exception 'conversation % is % for good', old.conversation_id, old.status;
end $$;
create trigger conversations_end_once before update of status on conversations
  for each row when (old.status <> 'IN_PROGRESS' and new.status <> old.status) execute function refuse_another_end();
