-- What a reply cost when it was made, in millionths of a US dollar; null: unknown, as for every reply from before.
alter table messages add column cost_usd_micros bigint;

-- Beside the sums, the replies whose cost is known. The cost of the others, those of the release before this one included, is unknown.
alter table usage_days add column cost_usd_micros bigint not null default 0, add column priced_replies integer not null default 0;
alter table figure_changes
  add column cost_usd_micros bigint not null default 0, add column priced_replies smallint not null default 0;
alter table figures add column cost_usd_micros bigint not null default 0, add column priced_replies bigint not null default 0;

-- As in 0019_reply_counts, but with the cost.
create or replace function count_reply() returns trigger language plpgsql set search_path from current as $$
declare
  of_agent text;
  of_type text;
  said_on date := (new.created_at at time zone 'UTC')::date;
  cost bigint := coalesce(new.cost_usd_micros, 0);
  priced smallint := num_nonnulls(new.cost_usd_micros);
begin
  select agent_id, type into of_agent, of_type from conversations
  where owner_id = new.owner_id and conversation_id = new.conversation_id and draft_id is null;
  if not found then
    return null;
  end if;
  insert into usage_days (owner_id, day, shard, replies, input_tokens, output_tokens, cost_usd_micros, priced_replies)
  values (new.owner_id, said_on, pg_backend_pid() % 64, 1, coalesce(new.input_tokens, 0), coalesce(new.output_tokens, 0),
    cost, priced)
  on conflict (owner_id, day, shard) do update set replies = usage_days.replies + 1,
    input_tokens = usage_days.input_tokens + excluded.input_tokens,
    output_tokens = usage_days.output_tokens + excluded.output_tokens,
    cost_usd_micros = usage_days.cost_usd_micros + excluded.cost_usd_micros,
    priced_replies = usage_days.priced_replies + excluded.priced_replies;
  insert into figure_changes (owner_id, day, agent_id, type, provider, model, replies, input_tokens, output_tokens,
    cost_usd_micros, priced_replies, latency_ms)
  values (new.owner_id, said_on, of_agent, of_type, new.provider, coalesce(new.model, ''), 1, coalesce(new.input_tokens, 0),
    coalesce(new.output_tokens, 0), cost, priced,
    case when new.total_ms is null then null when new.latency is null then new.first_word_ms
      else (new.latency ->> 'audibleMs')::numeric end);
  return null;
end $$;

-- A reply that was stored while it was made (0011_reply_checkpoints): its cost is known at the end, as its tokens are. As in
-- 0016_drafts and 0017_figures, but with the cost.
create or replace function count_reply_tokens() returns trigger language plpgsql set search_path from current as $$
begin
  if tries_draft(new.owner_id, new.conversation_id) then
    return null;
  end if;
  insert into usage_days (owner_id, day, shard, input_tokens, output_tokens, cost_usd_micros, priced_replies)
  values (new.owner_id, (new.created_at at time zone 'UTC')::date, pg_backend_pid() % 64, coalesce(new.input_tokens, 0),
    coalesce(new.output_tokens, 0), coalesce(new.cost_usd_micros, 0), num_nonnulls(new.cost_usd_micros))
  on conflict (owner_id, day, shard) do update set
    input_tokens = usage_days.input_tokens + excluded.input_tokens,
    output_tokens = usage_days.output_tokens + excluded.output_tokens,
    cost_usd_micros = usage_days.cost_usd_micros + excluded.cost_usd_micros,
    priced_replies = usage_days.priced_replies + excluded.priced_replies;
  return null;
end $$;

create or replace function note_finished_reply() returns trigger language plpgsql set search_path from current as $$
begin
  insert into figure_changes (owner_id, day, agent_id, type, provider, model, input_tokens, output_tokens, cost_usd_micros,
    priced_replies, latency_ms)
  select new.owner_id, (new.created_at at time zone 'UTC')::date, agent_id, type, new.provider, coalesce(new.model, ''),
    coalesce(new.input_tokens, 0), coalesce(new.output_tokens, 0), coalesce(new.cost_usd_micros, 0),
    num_nonnulls(new.cost_usd_micros),
    case when new.latency is null then new.first_word_ms else (new.latency ->> 'audibleMs')::numeric end
  from conversations
  where owner_id = new.owner_id and conversation_id = new.conversation_id and draft_id is null;
  return null;
end $$;
-- Only the function above called it. Of a partitioned table (docs/scaling.md), it takes the rows of the table's first partition.
drop function if exists note_reply(messages, smallint);
