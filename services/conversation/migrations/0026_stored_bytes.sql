-- How many bytes each owner's conversations have: the owner's sum in stored_bytes and the owner's rows in stored_changes together,
-- exact at every moment once the first fold has counted what there is (src/store/stored-bytes.ts). Triggers, because a previous
-- release writes too. A message counts as 500 bytes more than its text, a conversation as 1,000 more than what was given with it.
lock table conversations, messages, tool_calls in access exclusive mode;
create table stored_bytes (
  owner_id text primary key,
  bytes bigint not null
);

-- Rows are only ever added, so that an owner's turns do not wait for each other, until a job folds them into stored_bytes.
create table stored_changes (
  owner_id text not null,
  change_id bigint not null generated always as identity,
  bytes bigint not null,
  primary key (owner_id, change_id)
);

-- Folded some hundred at a time, large ones and deletions soon. No worker is told: it finds the job when it polls.
create function fold_stored_soon() returns trigger language plpgsql set search_path from current as $$
begin
  insert into jobs (owner_id, job_id, queue, payload, due_at)
  values (new.owner_id, 'fold-stored-bytes', 'fold-stored-bytes', '{}', now() + interval '3 seconds')
  on conflict (owner_id, job_id) do nothing;
  return null;
end $$;
create trigger stored_changed after insert on stored_changes
  for each row when (new.change_id % 256 = 0 or new.bytes not between 0 and 65535) execute function fold_stored_soon();

create function conversation_bytes(counted conversations) returns bigint language sql immutable
return 1000 + octet_length(counted.metadata::text) + octet_length(counted.variables::text)
  + coalesce(octet_length(counted.notes), 0) + coalesce(octet_length(counted.analysis::text), 0)
  + coalesce(octet_length(counted.scheduled_call::text), 0);

-- One row for all that a statement stores for an owner: a trigger for each of twelve messages took 16 µs more of each, these take 3.
-- Not one function for all tables, because its statement would be planned each time.
create function note_new_conversations() returns trigger language plpgsql set search_path from current as $$
begin
  insert into stored_changes (owner_id, bytes)
  select owner_id, sum(conversation_bytes(added)) from added group by owner_id order by owner_id;
  return null;
end $$;
create trigger conversations_stored after insert on conversations referencing new table as added
  for each statement execute function note_new_conversations();

create function note_new_messages() returns trigger language plpgsql set search_path from current as $$
begin
  insert into stored_changes (owner_id, bytes)
  select owner_id, sum(500 + octet_length(content)) from added group by owner_id order by owner_id;
  return null;
end $$;
create trigger messages_stored after insert on messages referencing new table as added
  for each statement execute function note_new_messages();

-- Most updates change no sizes.
create function note_resized_conversation() returns trigger language plpgsql set search_path from current as $$
begin
  insert into stored_changes (owner_id, bytes) values (new.owner_id, conversation_bytes(new) - conversation_bytes(old));
  return null;
end $$;
create trigger conversations_resized after update of metadata, variables, notes, analysis, scheduled_call on conversations
  for each row when ((old.metadata, old.variables, old.notes, old.analysis, old.scheduled_call)
    is distinct from (new.metadata, new.variables, new.notes, new.analysis, new.scheduled_call))
  execute function note_resized_conversation();

create function note_resized_message() returns trigger language plpgsql set search_path from current as $$
begin
  insert into stored_changes (owner_id, bytes) values (new.owner_id, octet_length(new.content) - octet_length(old.content));
  return null;
end $$;
create trigger messages_resized after update of content on messages
  for each row when (octet_length(old.content) <> octet_length(new.content)) execute function note_resized_message();

create function note_tool_calls() returns trigger language plpgsql set search_path from current as $$
begin
  insert into stored_changes (owner_id, bytes)
  values (new.owner_id, new.bytes - case when tg_op = 'UPDATE' then old.bytes else 0 end);
  return null;
end $$;
create trigger tool_calls_stored after insert or update of bytes on tool_calls
  for each row execute function note_tool_calls();

-- Its argument is the size of a row as an expression, in which the row is called `counted`.
create function note_removed() returns trigger language plpgsql set search_path from current as $$
begin
  execute format('insert into stored_changes (owner_id, bytes)
    select owner_id, -sum(%s) from removed as counted group by owner_id order by owner_id', tg_argv[0]);
  return null;
end $$;
create trigger conversations_removed after delete on conversations referencing old table as removed
  for each statement execute function note_removed('conversation_bytes(counted)');
create trigger messages_removed after delete on messages referencing old table as removed
  for each statement execute function note_removed('500 + octet_length(content)');
create trigger tool_calls_removed after delete on tool_calls referencing old table as removed
  for each statement execute function note_removed('bytes');
