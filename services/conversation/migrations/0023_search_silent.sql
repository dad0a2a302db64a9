-- Conversations that go on but have been silent for a while are numbered too, so that no search reads all messages of all open
-- conversations. One that is continued leaves the index and waits again; of one that ends, only the status is new.

-- Whether a conversation that goes on is in search_documents: so the turns of all others need not look.
alter table conversations add column is_numbered_open boolean not null default false;

-- The statuses of conversations that went on when they were numbered, until search_terms has the one with which they ended.
create table search_open (
  owner_id text not null,
  number integer not null,
  status text not null,
  primary key (owner_id, number)
);

-- Takes a conversation's text from the index.
create function forget_search_document(owner text, conversation uuid) returns void language sql set search_path from current as $$
  with gone as (
    delete from search_documents where owner_id = owner and conversation_id = conversation returning owner_id, number
  ), closed as (
    delete from search_open using gone where search_open.owner_id = gone.owner_id and search_open.number = gone.number
  )
  insert into search_gone (owner_id, number, gone_at) select owner_id, number, now() from gone
$$;

create or replace function leave_search_index() returns trigger language plpgsql set search_path from current as $$
begin
  delete from search_waiting where owner_id = old.owner_id and conversation_id = old.conversation_id;
  if not found then
    perform forget_search_document(old.owner_id, old.conversation_id);
  end if;
  return null;
end $$;

create function renew_search_index() returns trigger language plpgsql set search_path from current as $$
begin
  if (new.message_count, new.last_activity_at, new.turn_id) is not distinct from (old.message_count, old.last_activity_at, old.turn_id)
  then
    update search_open set status = new.status
    where owner_id = new.owner_id and number = (
      select number from search_documents where owner_id = new.owner_id and conversation_id = new.conversation_id
    );
    return null;
  end if;
  perform forget_search_document(new.owner_id, new.conversation_id);
  insert into search_waiting (owner_id, conversation_id) values (new.owner_id, new.conversation_id);
  update conversations set is_numbered_open = false
  where owner_id = new.owner_id and conversation_id = new.conversation_id;
  -- As for a new conversation (0004_conversation_search).
  if random() < 1.0 / 128 then
    insert into jobs (owner_id, job_id, queue, payload, due_at)
    values (new.owner_id, 'index-conversations', 'index-conversations', '{}', now() + interval '3 seconds')
    on conflict (owner_id, job_id) do nothing;
  end if;
  return null;
end $$;
-- Whatever adds or changes a message sets one of these columns.
create trigger conversations_renew_search_index after update of message_count, last_activity_at, turn_id, status on conversations
  for each row when (old.is_numbered_open
    and (old.message_count, old.last_activity_at, old.turn_id, old.status)
      is distinct from (new.message_count, new.last_activity_at, new.turn_id, new.status))
  execute function renew_search_index();
