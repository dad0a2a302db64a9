-- What each owner's log has: an event 500 bytes beside its payload, a delivery 500, an attempt 200 beside the response.
lock table events, deliveries, attempts in access exclusive mode;

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
  select owner_id, sum(200 + coalesce(octet_length(response_excerpt), 0)) from added group by owner_id order by owner_id;
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
  select owner_id, -sum(200 + coalesce(octet_length(response_excerpt), 0)) from removed group by owner_id order by owner_id;
  return null;
end $$;
create trigger attempts_removed after delete on attempts referencing old table as removed
  for each statement execute function note_removed_attempts();
