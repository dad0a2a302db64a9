-- How a call ended, more precisely than its status: SUCCESS, NO_ANSWER, BUSY, CANCELLED, HUNG_UP_EARLY or ERROR; null for others, and
-- for those that ended before this migration.
alter table conversations add column outcome text;

-- Lists can be filtered by whether a conversation is a test, so tests are a kind of their own in the counts (0003_conversation_counts).
-- While the previous release runs beside this one, its folds fail and are retried by this one; lists stay exact.
lock table conversations in share row exclusive mode;
alter table conversation_changes add column is_test boolean not null default false;
alter table conversation_counts add column is_test boolean not null default false,
  drop constraint conversation_counts_pkey,
  add primary key (owner_id, agent_id, span, first_day, type, calling_type, status, is_test);

-- A search with the filter has no fact for it in the index: it looks up the tests, which people make by hand.
create index conversations_tests on conversations (owner_id, conversation_id) where is_test_call;

create or replace function note_conversation_change() returns trigger language plpgsql set search_path from current as $$
declare
  minute_was bigint;
  minute_is bigint;
  last_change bigint;
begin
  if tg_op <> 'INSERT' then
    minute_was := minute_since_1970(old.created_at);
    insert into conversation_changes (owner_id, agent_id, type, calling_type, status, is_test, day, minute, change)
    values (old.owner_id, old.agent_id, old.type, coalesce(old.calling_type, ''), old.status, old.is_test_call,
      minute_was / 1440, minute_was % 1440, -1)
    returning change_id into last_change;
  end if;
  if tg_op <> 'DELETE' then
    minute_is := minute_since_1970(new.created_at);
    insert into conversation_changes (owner_id, agent_id, type, calling_type, status, is_test, day, minute, change)
    values (new.owner_id, new.agent_id, new.type, coalesce(new.calling_type, ''), new.status, new.is_test_call,
      minute_is / 1440, minute_is % 1440, 1)
    returning change_id into last_change;
  end if;
  -- Folded some hundred at a time; an update takes two numbers, and either may be the one. Due so late that no notification is
  -- sent (0000_jobs).
  if last_change % 256 <= 1 then
    insert into jobs (owner_id, job_id, queue, payload, due_at)
    values (coalesce(new.owner_id, old.owner_id), 'fold-conversation-counts', 'fold-conversation-counts', '{}',
      now() + interval '3 seconds')
    on conflict (owner_id, job_id) do nothing;
  end if;
  return null;
end $$;

create or replace function recount_conversations(owner text) returns void language plpgsql set search_path from current as $$
begin
  lock table conversations in share row exclusive mode;
  -- As a fold does: it must be through, or none begun.
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || '.conversation_counts.' || owner, 0));
  delete from conversation_counts where owner_id = owner;
  delete from conversation_changes where owner_id = owner;
  insert into conversation_changes (owner_id, agent_id, type, calling_type, status, is_test, day, minute, change)
  select owner, agent_id, type, coalesce(calling_type, ''), status, is_test_call,
    minute_since_1970(created_at) / 1440, minute_since_1970(created_at) % 1440, 1
  from conversations where owner_id = owner;
  insert into jobs (owner_id, job_id, queue, payload, due_at)
  values (owner, 'fold-conversation-counts', 'fold-conversation-counts', '{}', now() + interval '3 seconds')
  on conflict (owner_id, job_id) do nothing;
end $$;

-- The tests that are there were counted with the others.
insert into conversation_changes (owner_id, agent_id, type, calling_type, status, is_test, day, minute, change)
select owner_id, agent_id, type, coalesce(calling_type, ''), status, kind.is_test,
  minute_since_1970(created_at) / 1440, minute_since_1970(created_at) % 1440, kind.change
from conversations cross join (values (false, -1), (true, 1)) as kind (is_test, change)
where is_test_call;
