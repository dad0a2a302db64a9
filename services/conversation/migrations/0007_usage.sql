-- What owners used, by the UTC day on which it began; what was used stays counted when conversations go. A day is counted on
-- many rows, so that replies of one owner which end at the same time hardly wait for each other; a transaction keeps to one.
create table usage_days (
  owner_id text not null,
  day date not null,
  shard smallint not null,
  conversations integer not null default 0,
  replies integer not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  primary key (owner_id, day, shard)
-- Updated very often, and no indexed column: the room keeps the versions on the page.
) with (fillfactor = 50);

create function count_conversation() returns trigger language plpgsql set search_path from current as $$
begin
  insert into usage_days (owner_id, day, shard, conversations)
  values (new.owner_id, (new.created_at at time zone 'UTC')::date, pg_backend_pid() % 64, 1)
  on conflict (owner_id, day, shard) do update set conversations = usage_days.conversations + 1;
  return null;
end $$;
create trigger conversations_used after insert on conversations
  for each row execute function count_conversation();

create function count_reply() returns trigger language plpgsql set search_path from current as $$
begin
  insert into usage_days (owner_id, day, shard, replies, input_tokens, output_tokens)
  values (new.owner_id, (new.created_at at time zone 'UTC')::date, pg_backend_pid() % 64, 1,
    coalesce(new.input_tokens, 0), coalesce(new.output_tokens, 0))
  on conflict (owner_id, day, shard) do update set replies = usage_days.replies + 1,
    input_tokens = usage_days.input_tokens + excluded.input_tokens,
    output_tokens = usage_days.output_tokens + excluded.output_tokens;
  return null;
end $$;
-- Only what a model of ours said is a reply; a greeting and what voice runtimes tell is not.
create trigger messages_used after insert on messages
  for each row when (new.provider is not null) execute function count_reply();

-- What was there before.
lock table conversations, messages in share row exclusive mode;
insert into usage_days (owner_id, day, shard, conversations, replies, input_tokens, output_tokens)
select owner_id, day, 0, sum(conversations), sum(replies), sum(input_tokens), sum(output_tokens)
from (
  select owner_id, (created_at at time zone 'UTC')::date as day, 1 as conversations, 0 as replies, 0 as input_tokens,
    0 as output_tokens
  from conversations
  union all
  select owner_id, (created_at at time zone 'UTC')::date, 0, 1, coalesce(input_tokens, 0), coalesce(output_tokens, 0)
  from messages where provider is not null
) as used
group by owner_id, day;
