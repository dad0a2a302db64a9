create table destinations (
  owner_id text not null,
  destination_id text not null,
  name text not null,
  url text not null,
  request_type text not null check (request_type in ('GET', 'POST', 'PATCH', 'PUT')),
  -- When failed attempts are repeated (src/delivery/state.ts).
  retry_schedule text not null default 'standard' check (retry_schedule in ('standard', 'extended')),
  enabled boolean not null,
  sealed_secret text not null,
  -- The secrets before, newest first: [{ "sealedSecret", "validUntil" }].
  old_secrets jsonb not null default '[]',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Which it gets.
  events text[] not null default '{conversation.completed,conversation.disconnected,conversation.failed}',
  primary key (owner_id, destination_id)
);

-- Grows with what an owner's destinations want, of which the conversation service is told (src/wanted/tell-wanted.ts). No row: never more
-- than the ends of conversations.
create table wanted_revisions (
  owner_id text primary key,
  revision bigint not null
);

create table events (
  owner_id text not null,
  event_id text not null,
  event text not null,
  -- Empty if it is about no conversation.
  conversation_id text not null,
  -- Null once its conversation is gone; its deliveries stay in the log, to be sent no more.
  payload text,
  test boolean not null,
  -- W3C trace context of what it tells of.
  traceparent text,
  created_at timestamptz not null,
  primary key (owner_id, event_id)
);
create index events_age on events using brin (created_at);

-- One for each event and destination, which may be gone by now. Without foreign keys: each would cost every delivery a look-up and a
-- lock, and what they would hold is written once, in one statement.
create table deliveries (
  owner_id text not null,
  delivery_id text not null,
  destination_id text not null,
  event_id text not null,
  conversation_id text not null,
  -- src/delivery/state.ts has the rules.
  status text not null check (status in ('pending', 'delivered', 'failed', 'cancelled')),
  -- Made so far, and to be made yet before it has failed.
  attempts integer not null,
  attempts_left integer not null,
  next_attempt_at timestamptz,
  -- Its conversation is gone, and its event's payload with it.
  forgotten boolean not null default false,
  created_at timestamptz not null,
  primary key (owner_id, delivery_id),
  -- What is pending has an attempt to come, so every delivery ends.
  check ((status = 'pending') = (next_attempt_at is not null)),
  check ((status = 'pending') = (attempts_left > 0)),
  -- What is pending has something to send.
  constraint deliveries_forgotten_check check (status <> 'pending' or not forgotten)
);
-- What a destination gets next.
create index deliveries_due on deliveries (owner_id, destination_id, next_attempt_at, delivery_id) where status = 'pending';
-- The lists, newest first, for ids are ordered by time.
create index deliveries_destination on deliveries (owner_id, destination_id, delivery_id);
create index deliveries_conversation on deliveries (owner_id, conversation_id, delivery_id);
create index deliveries_unsuccessful on deliveries (owner_id, status, delivery_id) where status in ('failed', 'cancelled');
create index deliveries_age on deliveries using brin (created_at);

create table attempts (
  owner_id text not null,
  delivery_id text not null,
  number integer not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  http_status integer,
  error text,
  response_excerpt text,
  -- What the attempt sent beside the payload: { "method", "url", "headers" } as JSON; null if no request was made.
  request text,
  primary key (owner_id, delivery_id, number)
);

-- What each owner's log has: an event 500 bytes beside its payload, a delivery 500, an attempt 200 beside request and response.
--
-- One row for all that a statement stores for an owner. Not one function for all tables, because its statement would be planned
-- each time.
create function note_new_events() returns trigger language plpgsql set search_path from current as $$
begin
  insert into stored_changes (owner_id, bytes)
  select owner_id, sum(500 + coalesce(octet_length(payload), 0)) from added group by owner_id order by owner_id;
  return null;
end $$;
create trigger events_stored after insert on events referencing new table as added
  for each statement execute function note_new_events();

create function note_new_deliveries() returns trigger language plpgsql set search_path from current as $$
begin
  insert into stored_changes (owner_id, bytes)
  select owner_id, 500 * count(*) from added group by owner_id order by owner_id;
  return null;
end $$;
create trigger deliveries_stored after insert on deliveries referencing new table as added
  for each statement execute function note_new_deliveries();

create function note_new_attempts() returns trigger language plpgsql set search_path from current as $$
begin
  insert into stored_changes (owner_id, bytes)
  select owner_id, sum(200 + coalesce(octet_length(response_excerpt), 0) + coalesce(octet_length(request), 0))
  from added group by owner_id order by owner_id;
  return null;
end $$;
create trigger attempts_stored after insert on attempts referencing new table as added
  for each statement execute function note_new_attempts();

-- Updates change nothing else of these two tables: they remove payloads and responses.
create function note_resized_event() returns trigger language plpgsql set search_path from current as $$
begin
  insert into stored_changes (owner_id, bytes)
  values (new.owner_id, coalesce(octet_length(new.payload), 0) - coalesce(octet_length(old.payload), 0));
  return null;
end $$;
create trigger events_resized after update of payload on events
  for each row when (octet_length(old.payload) is distinct from octet_length(new.payload)) execute function note_resized_event();

create function note_resized_attempt() returns trigger language plpgsql set search_path from current as $$
begin
  insert into stored_changes (owner_id, bytes)
  values (new.owner_id, coalesce(octet_length(new.response_excerpt), 0) - coalesce(octet_length(old.response_excerpt), 0));
  return null;
end $$;
create trigger attempts_resized after update of response_excerpt on attempts
  for each row when (octet_length(old.response_excerpt) is distinct from octet_length(new.response_excerpt))
  execute function note_resized_attempt();

create function note_removed_events() returns trigger language plpgsql set search_path from current as $$
begin
  insert into stored_changes (owner_id, bytes)
  select owner_id, -sum(500 + coalesce(octet_length(payload), 0)) from removed group by owner_id order by owner_id;
  return null;
end $$;
create trigger events_removed after delete on events referencing old table as removed
  for each statement execute function note_removed_events();

create function note_removed_deliveries() returns trigger language plpgsql set search_path from current as $$
begin
  insert into stored_changes (owner_id, bytes)
  select owner_id, -500 * count(*) from removed group by owner_id order by owner_id;
  return null;
end $$;
create trigger deliveries_removed after delete on deliveries referencing old table as removed
  for each statement execute function note_removed_deliveries();

create function note_removed_attempts() returns trigger language plpgsql set search_path from current as $$
begin
  insert into stored_changes (owner_id, bytes)
  select owner_id, -sum(200 + coalesce(octet_length(response_excerpt), 0) + coalesce(octet_length(request), 0))
  from removed group by owner_id order by owner_id;
  return null;
end $$;
create trigger attempts_removed after delete on attempts referencing old table as removed
  for each statement execute function note_removed_attempts();
