-- The figures count everything that usage_days did (0017_figures, 0020_costs), so usage is read from them, and turns no longer update
-- rows that their owner's other turns update too.

-- What was used before there were figures.
lock table conversations, messages in access exclusive mode;
create table usage_before (
  owner_id text not null,
  day date not null,
  conversations bigint not null,
  replies bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cost_usd_micros bigint not null,
  priced_replies bigint not null,
  primary key (owner_id, day)
);
insert into usage_before
select owner_id, day, sum(conversations), sum(replies), sum(input_tokens), sum(output_tokens), sum(cost_usd_micros),
  sum(priced_replies)
from (
  select owner_id, day, conversations, replies, input_tokens, output_tokens, cost_usd_micros, priced_replies from usage_days
  union all
  select owner_id, day, -begun, -replies, -input_tokens, -output_tokens, -cost_usd_micros, -priced_replies from figures
  union all
  select owner_id, day, -begun, -replies, -input_tokens, -output_tokens, -cost_usd_micros, -priced_replies from figure_changes
) as counted
group by owner_id, day
having (sum(conversations), sum(replies), sum(input_tokens), sum(output_tokens), sum(cost_usd_micros), sum(priced_replies))
  <> (0, 0, 0, 0, 0, 0);

drop table usage_days;
create view usage_days as
select owner_id, day, conversations, replies, input_tokens, output_tokens, cost_usd_micros, priced_replies from usage_before
union all
select owner_id, day, begun, replies, input_tokens, output_tokens, cost_usd_micros, priced_replies from figures
union all
select owner_id, day, begun, replies, input_tokens, output_tokens, cost_usd_micros, priced_replies from figure_changes;

drop trigger conversations_used on conversations;
drop function count_conversation();
drop trigger messages_finished on messages;
drop function count_reply_tokens();
drop function tries_draft(text, uuid);

-- As in 0020_costs, without usage.
create function note_new_reply() returns trigger language plpgsql set search_path from current as $$
declare
  of_agent text;
  of_type text;
begin
  select agent_id, type into of_agent, of_type from conversations
  where owner_id = new.owner_id and conversation_id = new.conversation_id and draft_id is null;
  if not found then
    return null;
  end if;
  insert into figure_changes (owner_id, day, agent_id, type, provider, model, replies, input_tokens, output_tokens,
    cost_usd_micros, priced_replies, latency_ms)
  values (new.owner_id, (new.created_at at time zone 'UTC')::date, of_agent, of_type, new.provider, coalesce(new.model, ''), 1,
    coalesce(new.input_tokens, 0), coalesce(new.output_tokens, 0), coalesce(new.cost_usd_micros, 0),
    num_nonnulls(new.cost_usd_micros),
    case when new.total_ms is null then null when new.latency is null then new.first_word_ms
      else (new.latency ->> 'audibleMs')::numeric end);
  return null;
end $$;
drop trigger messages_used on messages;
drop function count_reply();
create trigger messages_figured after insert on messages
  for each row when (new.provider is not null) execute function note_new_reply();
