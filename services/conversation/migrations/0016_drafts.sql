-- A conversation that tries a draft of its agent (agent service, 0010_drafts). It is the owner's experiment: it sends no event and
-- is not counted as used.
alter table conversations add column draft_id text;

-- As in 0005_conversation_events, but for drafts.
drop trigger conversations_ended on conversations;
create trigger conversations_ended after update of status on conversations
  for each row when (old.status = 'IN_PROGRESS' and new.status <> 'IN_PROGRESS' and new.draft_id is null)
  execute function note_conversation_end();
drop trigger conversations_begun_ended on conversations;
create trigger conversations_begun_ended after insert on conversations
  for each row when (new.status <> 'IN_PROGRESS' and new.draft_id is null) execute function note_conversation_end();

-- As in 0007_usage, but for drafts.
drop trigger conversations_used on conversations;
create trigger conversations_used after insert on conversations
  for each row when (new.draft_id is null) execute function count_conversation();
create function tries_draft(owner text, conversation uuid) returns boolean language sql stable set search_path from current
return exists (select from conversations where owner_id = owner and conversation_id = conversation and draft_id is not null);

create or replace function count_reply() returns trigger language plpgsql set search_path from current as $$
begin
  if tries_draft(new.owner_id, new.conversation_id) then
    return null;
  end if;
  insert into usage_days (owner_id, day, shard, replies, input_tokens, output_tokens)
  values (new.owner_id, (new.created_at at time zone 'UTC')::date, pg_backend_pid() % 64, 1,
    coalesce(new.input_tokens, 0), coalesce(new.output_tokens, 0))
  on conflict (owner_id, day, shard) do update set replies = usage_days.replies + 1,
    input_tokens = usage_days.input_tokens + excluded.input_tokens,
    output_tokens = usage_days.output_tokens + excluded.output_tokens;
  return null;
end $$;

-- As in 0011_reply_checkpoints, but for drafts.
create or replace function count_reply_tokens() returns trigger language plpgsql set search_path from current as $$
begin
  if tries_draft(new.owner_id, new.conversation_id) then
    return null;
  end if;
  insert into usage_days (owner_id, day, shard, input_tokens, output_tokens)
  values (new.owner_id, (new.created_at at time zone 'UTC')::date, pg_backend_pid() % 64, coalesce(new.input_tokens, 0),
    coalesce(new.output_tokens, 0))
  on conflict (owner_id, day, shard) do update set
    input_tokens = usage_days.input_tokens + excluded.input_tokens,
    output_tokens = usage_days.output_tokens + excluded.output_tokens;
  return null;
end $$;
