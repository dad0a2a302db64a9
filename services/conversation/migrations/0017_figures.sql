-- What an owner's statistics are read from: how many conversations began and how they ended, how long calls lasted, what models
-- answered, how fast. Kept when conversations are deleted, as usage is; counted from this migration on, and without drafts.

-- What has happened, until a job folds it into the figures. Rows are only ever added, so that turns of one owner which end at the
-- same time do not wait for each other.
create table figure_changes (
  owner_id text not null,
  change_id bigint not null generated always as identity,
  -- UTC: of a conversation, the day it began; of a reply, its own.
  day date not null,
  agent_id text not null,
  type text not null,
  -- Empty: not about a model.
  provider text not null default '',
  model text not null default '',
  begun smallint not null default 0,
  -- COMPLETED, DISCONNECTED or FAILED; null: none ended.
  ended text,
  call_seconds double precision not null default 0,
  replies smallint not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  -- Until the user noticed the reply: of a call until it could be heard, else until its first word. Null: not measured.
  latency_ms integer,
  primary key (owner_id, change_id)
);

create table figures (
  owner_id text not null,
  day date not null,
  agent_id text not null,
  type text not null,
  provider text not null,
  model text not null,
  begun bigint not null,
  completed bigint not null,
  disconnected bigint not null,
  failed bigint not null,
  call_seconds double precision not null,
  replies bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  primary key (owner_id, day, agent_id, type, provider, model)
);

-- How many replies took how long, by latency_bucket.
create table figure_latencies (
  owner_id text not null,
  day date not null,
  agent_id text not null,
  type text not null,
  bucket smallint not null,
  replies bigint not null,
  primary key (owner_id, day, agent_id, type, bucket)
);

-- A tenth wide, so that a percentile is right to 5 %.
create function latency_bucket(ms integer) returns smallint language sql immutable
return floor(ln(greatest(ms, 1)) / ln(1.1))::smallint;

-- Folded some hundred at a time; due so late that no notification is sent (0000_jobs).
create function fold_figures_soon() returns trigger language plpgsql set search_path from current as $$
begin
  insert into jobs (owner_id, job_id, queue, payload, due_at)
  values (new.owner_id, 'fold-figures', 'fold-figures', '{}', now() + interval '3 seconds')
  on conflict (owner_id, job_id) do nothing;
  return null;
end $$;
create trigger figures_changed after insert on figure_changes
  for each row when (new.change_id % 256 = 0) execute function fold_figures_soon();

create function note_begun() returns trigger language plpgsql set search_path from current as $$
begin
  insert into figure_changes (owner_id, day, agent_id, type, begun)
  values (new.owner_id, (new.created_at at time zone 'UTC')::date, new.agent_id, new.type, 1);
  return null;
end $$;
create trigger conversations_begun after insert on conversations
  for each row when (new.draft_id is null) execute function note_begun();

create function note_ended() returns trigger language plpgsql set search_path from current as $$
begin
  insert into figure_changes (owner_id, day, agent_id, type, ended, call_seconds)
  values (new.owner_id, (new.created_at at time zone 'UTC')::date, new.agent_id, new.type, new.status,
    coalesce(new.duration_seconds, 0));
  return null;
end $$;
create trigger conversations_figured after update of status on conversations
  for each row when (old.status = 'IN_PROGRESS' and new.status <> 'IN_PROGRESS' and new.draft_id is null)
  execute function note_ended();

create function note_reply(said messages, replies smallint) returns void language plpgsql set search_path from current as $$
declare
  latency_ms integer := case when said.latency is null then said.first_word_ms else (said.latency ->> 'audibleMs')::numeric end;
begin
  insert into figure_changes (owner_id, day, agent_id, type, provider, model, replies, input_tokens, output_tokens, latency_ms)
  select said.owner_id, (said.created_at at time zone 'UTC')::date, agent_id, type, said.provider, coalesce(said.model, ''),
    replies, coalesce(said.input_tokens, 0), coalesce(said.output_tokens, 0),
    case when said.total_ms is not null then latency_ms end
  from conversations
  where owner_id = said.owner_id and conversation_id = said.conversation_id and draft_id is null;
end $$;

create function note_new_reply() returns trigger language plpgsql set search_path from current as $$
begin
  perform note_reply(new, 1::smallint);
  return null;
end $$;
create trigger messages_figured after insert on messages
  for each row when (new.provider is not null) execute function note_new_reply();

-- A reply that was stored while it was made (0011_reply_checkpoints): its tokens and latency are known at the end.
create function note_finished_reply() returns trigger language plpgsql set search_path from current as $$
begin
  perform note_reply(new, 0::smallint);
  return null;
end $$;
create trigger messages_figured_later after update of total_ms on messages
  for each row when (new.provider is not null and old.total_ms is null and new.total_ms is not null)
  execute function note_finished_reply();
