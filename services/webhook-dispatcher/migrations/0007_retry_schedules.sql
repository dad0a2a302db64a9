-- When failed attempts are repeated (src/delivery/state.ts).
alter table destinations add column retry_schedule text not null default 'standard'
  constraint destinations_retry_schedule_check check (retry_schedule in ('standard', 'extended'));

-- What an attempt sent beside the payload: { "method", "url", "headers" } as JSON; null if no request was made.
alter table attempts add column request text;

-- It counts among what each owner's log has.
create or replace function note_new_attempts() returns trigger language plpgsql set search_path from current as $$
begin
  insert into stored_changes (owner_id, bytes)
  select owner_id, sum(200 + coalesce(octet_length(response_excerpt), 0) + coalesce(octet_length(request), 0))
  from added group by owner_id order by owner_id;
  return null;
end $$;

create or replace function note_removed_attempts() returns trigger language plpgsql set search_path from current as $$
begin
  insert into stored_changes (owner_id, bytes)
  select owner_id, -sum(200 + coalesce(octet_length(response_excerpt), 0) + coalesce(octet_length(request), 0))
  from removed group by owner_id order by owner_id;
  return null;
end $$;
