-- What a list needs to tell how many conversations match, and where its page lies, without reading them: how many there are of
-- each kind, by the minute (UTC) they began in. Exact at every moment: the folded counts plus the changes not folded in yet.

-- Every conversation that came (1) or went (-1) or changed its kind (both), until a job folds it into the counts. Rows are only
-- ever added, so that conversations of one owner which begin or end at the same time do not wait for each other.
create table conversation_changes (
  owner_id text not null,
  change_id bigint not null generated always as identity,
  agent_id text not null,
  type text not null,
  -- Empty: none.
  calling_type text not null,
  status text not null,
  -- Days since 1970 and minutes since midnight.
  day integer not null,
  minute smallint not null,
  change smallint not null,
  primary key (owner_id, change_id)
);

create table conversation_counts (
  owner_id text not null,
  -- Empty: all agents together.
  agent_id text not null,
  -- Days counted together: 1, 8 or 64, so that a long range of days is the sum of a few.
  span smallint not null,
  -- The first of them, a multiple of their number.
  first_day integer not null,
  type text not null,
  calling_type text not null,
  status text not null,
  total integer not null,
  -- The minutes of the day in which conversations began, ascending, and how many began up to the end of each.
  minutes smallint[] not null,
  running integer[] not null,
  primary key (owner_id, agent_id, span, first_day, type, calling_type, status)
);
-- A list without a time of day reads totals only: the long arrays stay out of its way, and cost no unpacking when they are read.
alter table conversation_counts alter column minutes set storage external, alter column running set storage external;

create function minute_since_1970(moment timestamptz) returns bigint language sql immutable
return floor(extract(epoch from moment) / 60)::bigint;

create function note_conversation_change() returns trigger language plpgsql set search_path from current as $$
declare
  minute_was bigint;
  minute_is bigint;
  last_change bigint;
begin
  if tg_op <> 'INSERT' then
    minute_was := minute_since_1970(old.created_at);
    insert into conversation_changes (owner_id, agent_id, type, calling_type, status, day, minute, change)
    values (old.owner_id, old.agent_id, old.type, coalesce(old.calling_type, ''), old.status,
      minute_was / 1440, minute_was % 1440, -1)
    returning change_id into last_change;
  end if;
  if tg_op <> 'DELETE' then
    minute_is := minute_since_1970(new.created_at);
    insert into conversation_changes (owner_id, agent_id, type, calling_type, status, day, minute, change)
    values (new.owner_id, new.agent_id, new.type, coalesce(new.calling_type, ''), new.status,
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

create trigger conversations_changed after insert or delete on conversations
  for each row execute function note_conversation_change();
create trigger conversations_recounted after update of agent_id, type, calling_type, status, created_at on conversations
  for each row when ((old.agent_id, old.type, old.calling_type, old.status, old.created_at)
    is distinct from (new.agent_id, new.type, new.calling_type, new.status, new.created_at))
  execute function note_conversation_change();

-- Counts an owner's conversations afresh: after rows came in past the triggers. Writers wait until it is through.
create function recount_conversations(owner text) returns void language plpgsql set search_path from current as $$
begin
  lock table conversations in share row exclusive mode;
  -- As a fold does: it must be through, or none begun.
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || '.conversation_counts.' || owner, 0));
  delete from conversation_counts where owner_id = owner;
  delete from conversation_changes where owner_id = owner;
  insert into conversation_changes (owner_id, agent_id, type, calling_type, status, day, minute, change)
  select owner, agent_id, type, coalesce(calling_type, ''), status,
    minute_since_1970(created_at) / 1440, minute_since_1970(created_at) % 1440, 1
  from conversations where owner_id = owner;
  insert into jobs (owner_id, job_id, queue, payload, due_at)
  values (owner, 'fold-conversation-counts', 'fold-conversation-counts', '{}', now() + interval '3 seconds')
  on conflict (owner_id, job_id) do nothing;
end $$;

-- What was there before.
select recount_conversations(owner_id) from (select distinct owner_id from conversations) as owners;
