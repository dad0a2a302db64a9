-- One row a conversation of any channel; what a channel does not have is null.
create table conversations (
  owner_id text not null,
  conversation_id uuid not null,
  id text not null,
  agent_id text not null,
  -- A conversation that tries a draft of its agent (agent service: agent_drafts).
  draft_id text,
  -- WEB: a call without a number.
  type text not null check (type in ('CHAT', 'TELEPHONY', 'WHATSAPP', 'DAILY', 'WEB')),
  status text not null check (status in ('IN_PROGRESS', 'COMPLETED', 'DISCONNECTED', 'FAILED')),
  -- How a call ended, more precisely than its status: SUCCESS, NO_ANSWER, BUSY, CANCELLED, HUNG_UP_EARLY or ERROR; null for others.
  outcome text,
  calling_type text check (calling_type in ('INBOUND', 'OUTBOUND')),
  -- A chat's first user message, cut.
  name text,
  -- That the agent's model set a chat to, a BCP 47 tag: every further turn is told.
  language text,
  -- Also the sequence number of the newest message: one transaction takes the next, so there is no gap.
  message_count integer not null default 0,
  -- The client's own.
  metadata jsonb not null default '{}',
  variables jsonb not null default '{}',
  -- Whether tool_calls has rows of it, so that turns of other conversations do not look.
  has_tool_calls boolean not null default false,
  -- The agents that have held it, in order, once one has handed over: [{ agentId, agentVersion, fromSeq, contextFrom, voiceAgentId }].
  agent_path jsonb,
  notes text,
  analysis jsonb,
  -- A further call that the agent agreed with the user: { at, reason? }.
  scheduled_call jsonb,
  created_by text,
  to_mobile_number text,
  from_mobile_number text,
  telephony_provider text,
  recording_url text,
  -- When a call's other party was on the line, as its runtime measured it.
  answered_at timestamptz,
  duration_seconds double precision,
  room_url text,
  room_name text,
  is_test_call boolean not null default false,
  -- Who is answering, and until when it is believed to live: one turn at a time.
  turn_id uuid,
  turn_until timestamptz,
  -- Whether it is in search_documents although it goes on: so the turns of all others need not look.
  is_numbered_open boolean not null default false,
  -- W3C trace context, set by the statement that ends it.
  traceparent text,
  last_activity_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Until when somebody watches it, or may go on watching; null: nobody has. So the updates of all others fire no trigger for it.
  watched_until timestamptz,
  -- The model is not asked, by an operator's wish.
  is_muted boolean not null default false,
  -- The operator who answers in the agent's place: { by, since, idleMs }.
  taken_over jsonb,
  -- When the agent answers again unless somebody writes before.
  taken_over_until timestamptz,
  -- A visitor of a website holds it in the widget.
  is_widget boolean not null default false,
  -- The question to the agent's start webhook, from before it is asked (src/store/start.ts); null: none was asked.
  start jsonb,
  -- Whether it has yet to begin, because its start webhook may reject it or name another agent; one that is rejected never begins.
  is_starting boolean not null default false,
  -- The agent that was asked for, if the start webhook named another one, which is agent_id.
  asked_agent_id text,
  -- What an operator lets the model know: [text, …].
  injected jsonb,
  -- What a model that its runtime asks has been given of knowledge bases since the last stored reply (src/store/reply-knowledge.ts).
  found_knowledge jsonb,
  -- The version of agent_id that it keeps to its end; null: it tries a draft.
  agent_version integer,
  -- A conversation of a test: its run, and what tool calls come to (src/store/turns/tests.ts); null for others.
  test jsonb,
  -- The owner's experiment, on a draft or in a test: it sends no event, and is not counted as used or watched for.
  is_experiment boolean not null generated always as (draft_id is not null or test is not null) stored,
  -- Null while it is in progress, and if it is not known.
  ended_by text check (ended_by in ('user', 'agent', 'operator', 'system')),
  primary key (owner_id, conversation_id)
-- A turn updates the row twice and touches no indexed column: the room lets both stay on the page and out of the indexes.
) with (fillfactor = 85);
-- Tells "another owner's" (403) from "none" (404).
create index conversations_by_conversation_id on conversations (conversation_id);
create index conversations_newest on conversations (owner_id, created_at desc, conversation_id desc);
create index conversations_of_agent on conversations (owner_id, agent_id, created_at desc, conversation_id desc);
-- Every chat that may have to be closed for silence. last_activity_at changes with each turn, so it is not in here. The condition
-- is one that only the sweep writes so: a turn, whose session is an open chat too, would be looked for among all of them as long
-- as the statistics say that they are few.
create index conversations_open_chats on conversations (created_at) where case when type = 'CHAT' then status = 'IN_PROGRESS' end;
-- Every call, message thread or room that may have to be closed because its runtime died, in the same way.
create index conversations_open_calls on conversations (created_at) where case when type <> 'CHAT' then status = 'IN_PROGRESS' end;
create index conversations_taken_over on conversations (taken_over_until) where taken_over_until is not null;

-- No conversation ends twice (decisions.md: Calls and the other channels).
create function refuse_another_end() returns trigger language plpgsql as $$
begin
  raise exception 'conversation % is % for good', old.conversation_id, old.status;
end $$;
create trigger conversations_end_once before update of status on conversations
  for each row when (old.status <> 'IN_PROGRESS' and new.status <> old.status) execute function refuse_another_end();

create table messages (
  owner_id text not null,
  conversation_id uuid not null,
  -- 1, 2, … without a gap.
  seq integer not null,
  role text not null check (role in ('user', 'assistant', 'person')),
  content text not null,
  created_at timestamptz not null,
  -- When the first word of a spoken message was heard, as its runtime measured it.
  started_at timestamptz,
  -- An assistant's reply that was cut short: the client left or the provider broke. A reply that takes long is stored while it is
  -- made, as a partial message without total_ms, and replaced by the whole one.
  partial boolean not null default false,
  -- Why the model of a partial reply cut it short, in its provider's words; null if it did not.
  partial_reason text,
  -- Of an assistant's reply: what produced it, and at what cost.
  provider text,
  model text,
  prompt_name text,
  prompt_version integer,
  input_tokens integer,
  output_tokens integer,
  -- When it was made, in millionths of a US dollar; null: unknown.
  cost_usd_micros bigint,
  first_word_ms integer,
  total_ms integer,
  -- Of a spoken reply: milliseconds by stage, as its runtime measured them.
  latency jsonb,
  -- Of a spoken reply: [from, to], in characters, of what its runtime said while tools ran.
  fillers jsonb,
  -- What became of a message that was sent over a channel such as WhatsApp.
  delivery_status text check (delivery_status in ('sent', 'delivered', 'read', 'failed')),
  -- Why it failed: the channel's code.
  delivery_error text,
  -- An assistant's message that an operator wrote.
  by_operator boolean not null default false,
  -- Of a reply whose model was given knowledge: how the search ended, and what it found (src/store/reply-knowledge.ts).
  knowledge jsonb,
  primary key (owner_id, conversation_id, seq)
);

-- Finds the replies whose model was given parts of a document.
create index messages_of_document on messages using gin (owner_id, (knowledge -> 'sources') jsonb_path_ops)
  where knowledge is not null;

-- The tool calls of agents' models. The row of a call with effects is there before the call is made (docs/decisions/0026).
create table tool_calls (
  owner_id text not null,
  conversation_id uuid not null,
  -- tcl_…, by time.
  tool_call_id text not null,
  -- Of the reply, which may not be there yet, or never.
  seq integer not null,
  -- Of the turn's requests to the model, from 1 on: the calls of a round were made together.
  round integer not null,
  -- Characters of the reply before the call.
  place integer not null,
  kind text not null check (kind in ('builtin', 'http', 'client', 'mcp', 'handoff')),
  name text not null,
  -- As the model wrote them.
  arguments text not null,
  state text not null check (state in ('REQUESTED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'UNKNOWN')),
  -- What the model is told; empty until then.
  result text not null default '',
  -- Whether the result is text from outside.
  is_outside boolean not null default false,
  -- Only the beginning of name, arguments or result is kept.
  is_cut boolean not null default false,
  -- Of an HTTP answer.
  status integer,
  -- What else people should know of the call.
  note text,
  attempts integer not null default 1,
  -- From the request to the call; null if not measured.
  started_ms integer,
  duration_ms integer,
  -- Until when a process is known to make the call although no turn waits for it; null while a turn does.
  running_until timestamptz,
  -- The model was told that the call runs. It is told the result before this message, once.
  is_background boolean not null default false,
  told_seq integer,
  -- When the client got a call that it makes itself, and until when it may give the result; null if none is waited for.
  handed_at timestamptz,
  answer_by timestamptz,
  -- Of a tool with effects.
  ended_at timestamptz,
  -- Which mock of the conversation's test answers it, counted from 0; null if none does.
  mock smallint,
  bytes integer not null generated always as (octet_length(name) + octet_length(arguments) + octet_length(result) + 200) stored,
  primary key (owner_id, conversation_id, tool_call_id)
);

-- No statement selects rows by these columns. Collecting their statistics took a third of the time of an analyze of conversations,
-- and most of one of tool calls, which keeps a core busy for half a second.
alter table conversations
  alter column metadata set statistics 0,
  alter column variables set statistics 0,
  alter column notes set statistics 0,
  alter column analysis set statistics 0,
  alter column created_by set statistics 0,
  alter column recording_url set statistics 0,
  alter column room_url set statistics 0,
  alter column room_name set statistics 0,
  alter column traceparent set statistics 0,
  alter column scheduled_call set statistics 0,
  alter column agent_path set statistics 0,
  alter column taken_over set statistics 0,
  alter column start set statistics 0,
  alter column asked_agent_id set statistics 0,
  alter column test set statistics 0;
alter table messages
  alter column content set statistics 0,
  alter column latency set statistics 0,
  alter column knowledge set statistics 0,
  alter column delivery_error set statistics 0;
alter table tool_calls
  alter column name set statistics 0,
  alter column arguments set statistics 0,
  alter column result set statistics 0,
  alter column note set statistics 0;

-- The idempotency keys of chat turns. A turn lasts far longer than a transaction, so a key is bound to its turn while that runs.
create table turn_keys (
  owner_id text not null,
  idempotency_key text not null,
  fingerprint bytea not null,
  -- The turn, once its user message is stored; until then only `error` can be set.
  conversation_id uuid,
  turn_id uuid,
  user_seq integer,
  -- Set when the turn is over: of the reply.
  done boolean not null default false,
  reply_seq integer,
  error jsonb,
  created_at timestamptz not null,
  primary key (owner_id, idempotency_key)
);
create index turn_keys_age on turn_keys (created_at);

-- What an owner's settings say of conversations, as the account service told last; an owner without a row has the defaults.
create table owner_settings (
  owner_id text primary key,
  -- For how many days they are kept. Null: the default again.
  retention_days integer check (retention_days between 1 and 3650),
  revision bigint not null,
  -- IANA, of agents that have none of their own. Null: UTC.
  timezone text
);

-- Events, of which the webhook dispatcher tells the owners' destinations.

-- Which events, beyond those of a conversation's end, an owner's destinations want, as the webhook dispatcher told last; an owner
-- without a row wants none. Nothing is stored of events that nobody wants.
create table wanted_events (
  owner_id text primary key,
  events text[] not null,
  revision bigint not null
);

-- An event, from the transaction that caused it until the webhook dispatcher has it.
create table owner_events (
  owner_id text not null,
  -- The event's id is made of it (evt_…): a conversation's events are sent in its order.
  event_uuid uuid not null default uuidv7(),
  event text not null,
  -- Null: about none.
  conversation_id uuid,
  -- What of it: the id of a tool call, or the seq of a message.
  about text,
  happened_at timestamptz not null,
  -- When it is to be seen to: sent, or sent again, or sent without the analysis it waits for.
  due_at timestamptz not null,
  -- Of a conversation's end: ASKED while it waits for the analysis, whose end moves due_at and makes it OVER.
  analysis text check (analysis in ('ASKED', 'OVER')),
  -- What every attempt sends, byte for byte; null until the first, unless it was given.
  payload text,
  attempts integer not null default 0,
  -- W3C trace context of what caused it: the deliveries are a part of that trace.
  traceparent text,
  primary key (owner_id, event_uuid)
);
-- The events of an owner in the order in which they are to be sent.
create index owner_events_due on owner_events (owner_id, due_at) where due_at < 'infinity';
create index owner_events_of_conversation on owner_events (owner_id, conversation_id, event_uuid) where conversation_id is not null;

-- Stores an event that its owner wants, and enqueues the owner's job; none of an owner's experiment, or of a conversation that is gone. Statements
-- that cause events of several owners do so in order of owner, so that two of them cannot deadlock.
create function add_event(
  owner text, name text, conversation uuid, what text, moment timestamptz, given_uuid uuid default null, body text default null,
  trace text default null
) returns boolean language plpgsql set search_path from current as $$
begin
  if not exists (select from wanted_events where owner_id = owner and name = any(events)) then
    return false;
  end if;
  insert into owner_events (owner_id, event_uuid, event, conversation_id, about, happened_at, due_at, payload, traceparent)
  select owner, coalesce(given_uuid, uuidv7()), name, conversation, what, moment, moment, body, trace
  where conversation is null or exists (
    select from conversations where owner_id = owner and conversation_id = conversation and not is_experiment
  )
  on conflict (owner_id, event_uuid) do nothing;
  if not found then
    return false;
  end if;
  insert into jobs (owner_id, job_id, queue, payload, due_at)
  values (owner, 'relay-events', 'relay-events', '{}', moment)
  on conflict (owner_id, job_id) do update set due_at = least(jobs.due_at, excluded.due_at), attempts = 0;
  return true;
end $$;

create function note_conversation_start() returns trigger language plpgsql set search_path from current as $$
begin
  perform add_event(new.owner_id, 'conversation.started', new.conversation_id, null, new.updated_at);
  return null;
end $$;
create trigger conversations_started after insert on conversations
  for each row when (new.status = 'IN_PROGRESS' and not new.is_experiment and not new.is_starting)
  execute function note_conversation_start();
-- Its start webhook was asked, and has not rejected it.
create trigger conversations_started_late after update of is_starting on conversations
  for each row when (old.is_starting and not new.is_starting and new.status = 'IN_PROGRESS' and not new.is_experiment)
  execute function note_conversation_start();

-- Whatever ends a conversation, one event is stored with it: no path can forget it.
create function note_conversation_end() returns trigger language plpgsql set search_path from current as $$
begin
  insert into owner_events (owner_id, conversation_id, event, happened_at, due_at, traceparent)
  values (new.owner_id, new.conversation_id, 'conversation.' || lower(new.status), new.updated_at, new.updated_at,
    new.traceparent);
  return null;
end $$;
create trigger conversations_ended after update of status on conversations
  for each row when (old.status = 'IN_PROGRESS' and new.status <> 'IN_PROGRESS' and not new.is_experiment)
  execute function note_conversation_end();
create trigger conversations_begun_ended after insert on conversations
  for each row when (new.status <> 'IN_PROGRESS' and not new.is_experiment) execute function note_conversation_end();

-- The events of each owner are relayed by a job of the owner (src/events/relay.ts). Whoever ends conversations enqueues it: a job that
-- runs then runs again, and one that waits runs earlier. In order of owner, so that two such statements cannot deadlock.
create function enqueue_event_relay() returns trigger language plpgsql set search_path from current as $$
begin
  -- Most updates are those of turns, and end nothing. Later ones of an ended conversation enqueue the job too, which then finds nothing
  -- to do: a join with the rows of before would compare each with each.
  if not exists (select from changed where status <> 'IN_PROGRESS') then
    return null;
  end if;
  insert into jobs (owner_id, job_id, queue, payload, due_at)
  select owner_id, 'relay-events', 'relay-events', '{}', min(updated_at) from changed
  where status <> 'IN_PROGRESS' and not is_experiment group by owner_id order by owner_id
  on conflict (owner_id, job_id) do update set due_at = least(jobs.due_at, excluded.due_at), attempts = 0
  -- The job is locked in any case, so that it is not claimed before the events can be seen.
  where jobs.due_at > excluded.due_at or jobs.attempts > 0;
  return null;
end $$;
create trigger conversations_relayed after update on conversations referencing new table as changed
  for each statement execute function enqueue_event_relay();
create trigger conversations_begun_relayed after insert on conversations referencing new table as changed
  for each statement execute function enqueue_event_relay();

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
  is_test boolean not null,
  -- Days since 1970 and minutes since midnight.
  day integer not null,
  minute smallint not null,
  change smallint not null,
  agent_version integer,
  primary key (owner_id, change_id)
);

create trigger counts_changed after insert on conversation_changes
  for each row when (new.change_id % 256 = 0) execute function fold_soon('fold-conversation-counts');

create table conversation_counts (
  owner_id text not null,
  -- Empty: all agents together. With a space and a number: one version of an agent.
  agent_id text not null,
  -- Days counted together: 1, 8 or 64, so that a long range of days is the sum of a few.
  span smallint not null,
  -- The first of them, a multiple of their number.
  first_day integer not null,
  type text not null,
  calling_type text not null,
  status text not null,
  is_test boolean not null,
  total integer not null,
  -- The minutes of the day in which conversations began, ascending, and how many began up to the end of each. A list without a time
  -- of day reads totals only: the long arrays stay out of its way, and cost no unpacking when they are read.
  minutes smallint[] storage external not null,
  running integer[] storage external not null,
  primary key (owner_id, agent_id, span, first_day, type, calling_type, status, is_test)
);

create function minute_since_1970(moment timestamptz) returns bigint language sql immutable
return floor(extract(epoch from moment) / 60)::bigint;

create function note_conversation_change() returns trigger language plpgsql set search_path from current as $$
declare
  minute_was bigint;
  minute_is bigint;
begin
  if tg_op <> 'INSERT' then
    minute_was := minute_since_1970(old.created_at);
    insert into conversation_changes (owner_id, agent_id, type, calling_type, status, is_test, day, minute, change, agent_version)
    values (old.owner_id, old.agent_id, old.type, coalesce(old.calling_type, ''), old.status, old.is_test_call,
      minute_was / 1440, minute_was % 1440, -1, old.agent_version);
  end if;
  if tg_op <> 'DELETE' then
    minute_is := minute_since_1970(new.created_at);
    insert into conversation_changes (owner_id, agent_id, type, calling_type, status, is_test, day, minute, change, agent_version)
    values (new.owner_id, new.agent_id, new.type, coalesce(new.calling_type, ''), new.status, new.is_test_call,
      minute_is / 1440, minute_is % 1440, 1, new.agent_version);
  end if;
  return null;
end $$;
create trigger conversations_changed after insert or delete on conversations
  for each row execute function note_conversation_change();
create trigger conversations_recounted after update of agent_id, type, calling_type, status, created_at on conversations
  for each row when ((old.agent_id, old.type, old.calling_type, old.status, old.created_at)
    is distinct from (new.agent_id, new.type, new.calling_type, new.status, new.created_at))
  execute function note_conversation_change();

-- What a search of conversations finds and counts them by, without reading transcripts (docs/architecture/stored-conversations.md).

-- What a search looks at beside the messages: every value a client gave, at any depth, and the numbers; not the names of fields.
-- As rows, so that it becomes a part of the statements that call it.
create function searched_values(metadata jsonb, variables jsonb, to_mobile_number text, from_mobile_number text)
returns setof text language sql immutable
begin atomic
  select value #>> '{}'
  from (
    select jsonb_path_query(metadata, 'strict $.**') as value
    union all select jsonb_path_query(variables, 'strict $.**')
  ) as given
  where jsonb_typeof(value) in ('string', 'number', 'boolean')
  union all select to_mobile_number where to_mobile_number is not null
  union all select from_mobile_number where from_mobile_number is not null;
end;

-- Conversations that are not in the index: those that go on, and those that ended a moment ago. Their messages are searched.
create table search_waiting (
  owner_id text not null,
  conversation_id uuid not null,
  primary key (owner_id, conversation_id)
);

create table search_owners (
  owner_id text primary key,
  -- Numbers given to conversations so far: 0, 1, 2, …
  numbered integer not null default 0,
  -- Those below are in search_terms, the others' texts are searched.
  indexed integer not null default 0
);

-- The texts of conversations that ended or have been silent for a while, numbered in the order in which they came here. So no search
-- reads all messages of all open conversations. One that is continued leaves the index and waits again.
create table search_documents (
  owner_id text not null,
  number integer not null,
  conversation_id uuid not null,
  -- So that a search need not look up each of those that are not indexed yet.
  began_at timestamptz not null,
  -- In lower case; between two messages or values a U+001E.
  text text not null,
  primary key (owner_id, number)
);
create unique index search_documents_of_conversations on search_documents (owner_id, conversation_id);

-- The statuses of conversations that went on when they were numbered, until search_terms has the one with which they ended.
create table search_open (
  owner_id text not null,
  number integer not null,
  status text not null,
  primary key (owner_id, number)
);

-- When conversations began, for every 2,048 numbers that are indexed.
create table search_parts (
  owner_id text not null,
  part integer not null,
  -- Microseconds since 1970.
  first_began double precision not null,
  last_began double precision not null,
  -- Of each number 8 bytes, the same as a little-endian float; not a number where the conversation is gone.
  began bytea not null,
  primary key (owner_id, part)
);

-- In which conversations a term occurs.
create table search_terms (
  owner_id text not null,
  -- gram: one or two characters of a text. word: what stands between white space. fact: something a filter asks for. seam: where two
  -- words meet, as two characters, white space, two characters. A text with white space is searched among the conversations that have
  -- its seams, not among all that have its words (src/search/terms.ts).
  kind text not null check (kind in ('gram', 'word', 'fact', 'seam')),
  term text not null,
  -- 32 parts.
  block integer not null,
  -- -1 once the block's parts are merged.
  part integer not null,
  -- As src/search/number-set.ts writes them.
  numbers bytea not null,
  primary key (owner_id, kind, term, block, part)
);
create index search_terms_of_block on search_terms (owner_id, block);
create index search_terms_words on search_terms using gin (owner_id, term gin_trgm_ops) where kind = 'word';

-- Numbers whose conversations were deleted, until their terms are (src/search/tidy.ts).
create table search_gone (
  owner_id text not null,
  number integer not null,
  gone_at timestamptz not null,
  primary key (owner_id, number)
);

create function await_search_index() returns trigger language plpgsql set search_path from current as $$
begin
  insert into search_waiting (owner_id, conversation_id) values (new.owner_id, new.conversation_id);
  -- Indexed some hundred at a time. No worker is told: it finds the job when it polls.
  if random() < 1.0 / 128 then
    insert into jobs (owner_id, job_id, queue, payload, due_at)
    values (new.owner_id, 'index-conversations', 'index-conversations', '{}', now() + interval '3 seconds')
    on conflict (owner_id, job_id) do nothing;
  end if;
  return null;
end $$;
create trigger conversations_await_search_index after insert on conversations
  for each row execute function await_search_index();

-- Takes a conversation's text from the index.
create function forget_search_document(owner text, conversation uuid) returns void language sql set search_path from current as $$
  with gone as (
    delete from search_documents where owner_id = owner and conversation_id = conversation returning owner_id, number
  ), closed as (
    delete from search_open using gone where search_open.owner_id = gone.owner_id and search_open.number = gone.number
  )
  insert into search_gone (owner_id, number, gone_at) select owner_id, number, now() from gone
$$;

create function leave_search_index() returns trigger language plpgsql set search_path from current as $$
begin
  delete from search_waiting where owner_id = old.owner_id and conversation_id = old.conversation_id;
  if not found then
    perform forget_search_document(old.owner_id, old.conversation_id);
  end if;
  return null;
end $$;
create trigger conversations_leave_search_index after delete on conversations
  for each row execute function leave_search_index();

-- A numbered conversation that is continued waits again; of one that ends, only the status is new.
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
  -- As for a new conversation.
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

-- What an owner's statistics, usage and figures of versions are read from: how many conversations began and how they ended, how long
-- calls lasted, what models answered, how fast and at what cost. Kept when conversations are deleted, and without experiments.

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
  -- Of the replies whose cost is known, and how many these are.
  cost_usd_micros bigint not null default 0,
  priced_replies smallint not null default 0,
  -- Until the user noticed the reply: of a call until it could be heard, else until its first word. Null: not measured.
  latency_ms integer,
  -- When it happened.
  happened_at timestamptz not null,
  -- Calls of tools with effects that ended, and how many of them failed.
  tool_calls smallint not null default 0,
  failed_tool_calls smallint not null default 0,
  -- In whose figures it counts too; null: in no version's (counted_version).
  agent_version integer,
  -- Of a conversation that ended: how a call ended, whether its duration is known, and whether a tool failed in it.
  outcome text,
  timed_calls smallint not null default 0,
  with_failed_tool smallint not null default 0,
  -- 1: this analysis was stored, -1: it was replaced.
  analyses smallint not null default 0,
  analysis jsonb,
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
  cost_usd_micros bigint not null,
  priced_replies bigint not null,
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
  -- The milliseconds of these replies together, so that few of them have an exact median.
  ms bigint not null,
  primary key (owner_id, day, agent_id, type, bucket)
);

-- The same of the last day by the minute, from which alerts are checked (src/alerts). A reply that was measured counts in the row of its
-- latency_bucket, everything else in that of bucket -1.
create table recent_figures (
  owner_id text not null,
  minute timestamptz not null,
  agent_id text not null,
  bucket smallint not null,
  ended bigint not null,
  failed bigint not null,
  replies bigint not null,
  cost_usd_micros bigint not null,
  tool_calls bigint not null,
  failed_tool_calls bigint not null,
  -- Replies that were measured, and their milliseconds together.
  measured bigint not null,
  ms bigint not null,
  primary key (owner_id, minute, agent_id, bucket)
);
create index recent_figures_age on recent_figures using brin (minute);

-- What is counted of the conversations of an agent's version, by day (src/store/figures/version-figures.ts).
create table version_figures (
  owner_id text not null,
  day date not null,
  agent_id text not null,
  agent_version integer not null,
  -- Such as outcomes.
  figure text not null,
  -- Of an analysis; empty: of none.
  field text not null,
  -- Which one of those that the figure distinguishes, such as COMPLETED; empty: it distinguishes none.
  value text not null,
  n bigint not null,
  -- Of what was measured, and of its squares; exact, so that what is subtracted again leaves nothing.
  total numeric not null,
  squares numeric not null,
  primary key (owner_id, day, agent_id, agent_version, figure, field, value)
);

-- What was used by the UTC day on which it began.
create view usage_days as
select owner_id, day, begun as conversations, replies, input_tokens, output_tokens, cost_usd_micros, priced_replies from figures
union all
select owner_id, day, begun, replies, input_tokens, output_tokens, cost_usd_micros, priced_replies from figure_changes;

-- A tenth wide, so that a percentile is right to 5 %.
create function latency_bucket(ms integer) returns smallint language sql immutable
return floor(ln(greatest(ms, 1)) / ln(1.1))::smallint;

create trigger figures_changed after insert on figure_changes
  for each row when (new.change_id % 256 = 0) execute function fold_soon('fold-figures');

-- The version in whose figures a conversation counts. A call that people make by hand to test an agent counts in none.
create function counted_version(counted conversations) returns integer language sql immutable
return case when not counted.is_test_call then counted.agent_version end;

create function note_begun() returns trigger language plpgsql set search_path from current as $$
begin
  insert into figure_changes (owner_id, day, agent_id, type, begun, happened_at, agent_version)
  values (new.owner_id, (new.created_at at time zone 'UTC')::date, new.agent_id, new.type, 1, new.created_at, counted_version(new));
  return null;
end $$;
create trigger conversations_begun after insert on conversations
  for each row when (not new.is_experiment) execute function note_begun();

-- A start webhook has named another agent.
create function note_other_agent() returns trigger language plpgsql set search_path from current as $$
begin
  insert into figure_changes (owner_id, day, agent_id, type, begun, happened_at, agent_version)
  values (new.owner_id, (new.created_at at time zone 'UTC')::date, old.agent_id, new.type, -1, new.created_at, counted_version(old)),
    (new.owner_id, (new.created_at at time zone 'UTC')::date, new.agent_id, new.type, 1, new.created_at, counted_version(new));
  return null;
end $$;
create trigger conversations_of_other_agent after update of agent_id, agent_version on conversations
  for each row when ((old.agent_id, old.agent_version) is distinct from (new.agent_id, new.agent_version) and not new.is_experiment)
  execute function note_other_agent();

create function note_ended() returns trigger language plpgsql set search_path from current as $$
begin
  insert into figure_changes (owner_id, day, agent_id, type, ended, call_seconds, happened_at, agent_version, outcome,
    timed_calls, with_failed_tool)
  values (new.owner_id, (new.created_at at time zone 'UTC')::date, new.agent_id, new.type, new.status,
    coalesce(new.duration_seconds, 0), new.updated_at, counted_version(new), new.outcome, num_nonnulls(new.duration_seconds),
    (new.has_tool_calls and exists (
      select from tool_calls
      where owner_id = new.owner_id and conversation_id = new.conversation_id and state = 'FAILED'
    ))::integer);
  return null;
end $$;
create trigger conversations_figured after update of status on conversations
  for each row when (old.status = 'IN_PROGRESS' and new.status <> 'IN_PROGRESS' and not new.is_experiment)
  execute function note_ended();

-- An analysis that is made again takes the place of the one before.
create function note_analysis() returns trigger language plpgsql set search_path from current as $$
begin
  insert into figure_changes (owner_id, day, agent_id, type, happened_at, agent_version, analyses, analysis)
  select new.owner_id, (new.created_at at time zone 'UTC')::date, new.agent_id, new.type, new.updated_at, counted_version(new),
    given.analyses, given.analysis
  from (values (-1, old.analysis), (1, new.analysis)) as given (analyses, analysis) where given.analysis is not null;
  return null;
end $$;
create trigger conversations_analyzed after update of analysis on conversations
  for each row when (old.analysis is distinct from new.analysis and not new.is_experiment and new.agent_version is not null)
  execute function note_analysis();

-- Reads the reply's conversation once, in the trigger itself: two triggers, one of them with a function of a function, took 40 µs more
-- of each turn.
create function note_new_reply() returns trigger language plpgsql set search_path from current as $$
declare
  of_agent text;
  of_type text;
  of_version integer;
begin
  select agent_id, type, counted_version(conversations) into of_agent, of_type, of_version from conversations
  where owner_id = new.owner_id and conversation_id = new.conversation_id and not is_experiment;
  if not found then
    return null;
  end if;
  insert into figure_changes (owner_id, day, agent_id, type, provider, model, replies, input_tokens, output_tokens,
    cost_usd_micros, priced_replies, happened_at, agent_version, latency_ms)
  values (new.owner_id, (new.created_at at time zone 'UTC')::date, of_agent, of_type, new.provider, coalesce(new.model, ''), 1,
    coalesce(new.input_tokens, 0), coalesce(new.output_tokens, 0), coalesce(new.cost_usd_micros, 0),
    num_nonnulls(new.cost_usd_micros), new.created_at, of_version,
    case when new.total_ms is null then null when new.latency is null then new.first_word_ms
      else (new.latency ->> 'audibleMs')::numeric end);
  return null;
end $$;
-- Only what a model of ours said is a reply; a greeting and what voice runtimes tell is not.
create trigger messages_figured after insert on messages
  for each row when (new.provider is not null) execute function note_new_reply();

-- Of a reply that was stored while it was made, tokens, cost and latency are known at the end.
create function note_finished_reply() returns trigger language plpgsql set search_path from current as $$
begin
  insert into figure_changes (owner_id, day, agent_id, type, provider, model, input_tokens, output_tokens, cost_usd_micros,
    priced_replies, happened_at, agent_version, latency_ms)
  select new.owner_id, (new.created_at at time zone 'UTC')::date, agent_id, type, new.provider, coalesce(new.model, ''),
    coalesce(new.input_tokens, 0), coalesce(new.output_tokens, 0), coalesce(new.cost_usd_micros, 0),
    num_nonnulls(new.cost_usd_micros), new.created_at, counted_version(conversations),
    case when new.latency is null then new.first_word_ms else (new.latency ->> 'audibleMs')::numeric end
  from conversations
  where owner_id = new.owner_id and conversation_id = new.conversation_id and not is_experiment;
  return null;
end $$;
create trigger messages_figured_later after update of total_ms on messages
  for each row when (new.provider is not null and old.total_ms is null and new.total_ms is not null)
  execute function note_finished_reply();

-- Of a tool with effects; one that changes nothing outside of the conversation is stored when it is over.
create function note_tool_end() returns trigger language plpgsql set search_path from current as $$
declare
  of_agent text;
  of_type text;
begin
  select agent_id, type into of_agent, of_type from conversations
  where owner_id = new.owner_id and conversation_id = new.conversation_id and not is_experiment;
  if not found then
    return null;
  end if;
  insert into figure_changes (owner_id, day, agent_id, type, tool_calls, failed_tool_calls, happened_at)
  values (new.owner_id, (new.ended_at at time zone 'UTC')::date, of_agent, of_type, 1, (new.state = 'FAILED')::integer,
    new.ended_at);
  if new.state = 'FAILED' then
    perform add_event(new.owner_id, 'tool.failed', new.conversation_id, new.tool_call_id, new.ended_at);
  end if;
  return null;
end $$;
create trigger tool_calls_ended after update of state on tool_calls
  for each row when (old.state <> new.state and new.state in ('SUCCEEDED', 'FAILED') and new.ended_at is not null)
  execute function note_tool_end();

-- How many bytes each owner's conversations have, added up in stored_changes and stored_bytes (src/store/stored-bytes.ts). A message
-- counts as 500 bytes more than its text, a conversation as 1,000 more than what was given with it.

create function conversation_bytes(counted conversations) returns bigint language sql immutable
return 1000 + octet_length(counted.metadata::text) + octet_length(counted.variables::text)
  + coalesce(octet_length(counted.notes), 0) + coalesce(octet_length(counted.analysis::text), 0)
  + coalesce(octet_length(counted.scheduled_call::text), 0) + coalesce(octet_length(counted.start::text), 0);

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
  select owner_id, sum(500 + octet_length(content) + coalesce(octet_length(knowledge::text), 0)) from added
  group by owner_id order by owner_id;
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
create trigger conversations_resized after update of metadata, variables, notes, analysis, scheduled_call, start on conversations
  for each row when ((old.metadata, old.variables, old.notes, old.analysis, old.scheduled_call, old.start)
    is distinct from (new.metadata, new.variables, new.notes, new.analysis, new.scheduled_call, new.start))
  execute function note_resized_conversation();

create function note_resized_message() returns trigger language plpgsql set search_path from current as $$
begin
  insert into stored_changes (owner_id, bytes) values (new.owner_id, octet_length(new.content) - octet_length(old.content)
    + coalesce(octet_length(new.knowledge::text), 0) - coalesce(octet_length(old.knowledge::text), 0));
  return null;
end $$;
create trigger messages_resized after update of content, knowledge on messages
  for each row when (octet_length(old.content) <> octet_length(new.content) or old.knowledge is distinct from new.knowledge)
  execute function note_resized_message();

create function note_tool_calls() returns trigger language plpgsql set search_path from current as $$
begin
  insert into stored_changes (owner_id, bytes)
  values (new.owner_id, new.bytes - case when tg_op = 'UPDATE' then old.bytes else 0 end);
  return null;
end $$;
create trigger tool_calls_stored after insert or update of result on tool_calls
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
  for each statement execute function note_removed('500 + octet_length(content) + coalesce(octet_length(knowledge::text), 0)');
create trigger tool_calls_removed after delete on tool_calls referencing old table as removed
  for each statement execute function note_removed('bytes');

-- What watchers are told of running conversations (src/live). What has happened is told in the transaction in which it happens, to
-- those that are watched only. The rows matter for ten minutes, so they need not survive a crash.

create unlogged table live_topics (
  owner_id text not null,
  -- The nil UUID stands for the starts and ends of all of the owner's conversations.
  conversation_id uuid not null,
  -- Of the newest event. The first one is the time in milliseconds, so that no number is used again after a crash.
  number bigint not null,
  -- The messages and agents up to these have been told.
  told_seq integer not null default 0,
  told_agents integer not null default 0,
  watched_until timestamptz not null,
  -- Until when words of messages in progress are wanted too.
  words_until timestamptz not null,
  primary key (owner_id, conversation_id)
);

create unlogged table live_events (
  owner_id text not null,
  conversation_id uuid not null,
  -- Without a gap: an event locks its topic to its commit.
  number bigint not null,
  event text not null,
  -- What other tables have is named here, not copied.
  data jsonb not null,
  told_at timestamptz not null default clock_timestamp(),
  primary key (owner_id, conversation_id, number)
);
create index live_events_age on live_events (told_at);

-- Held shared by whoever tells without a lock on the conversation, and alone by whoever begins to watch: either sees the other.
create function lock_live_topic(owner text, conversation uuid) returns bigint language sql immutable
return hashtextextended(owner || ' ' || conversation::text, 0);

create function tell_live(owner text, conversation uuid, event text, data jsonb) returns void language sql
set search_path from current as $$
  with topic as (
    update live_topics set number = number + 1 where owner_id = owner and conversation_id = conversation returning number
  ), told as (
    insert into live_events (owner_id, conversation_id, number, event, data)
    select owner, conversation, number, tell_live.event, tell_live.data from topic
  )
  select pg_notify(current_schema() || '.live', 'told ' || owner || ' ' || conversation::text) from topic
$$;

-- A message is told when it is whole: a reply not before its turn has ended.
create function tell_of_conversation() returns trigger language plpgsql set search_path from current as $$
declare
  topic live_topics;
  whole integer;
  agents integer;
begin
  select * into topic from live_topics
  where owner_id = new.owner_id and conversation_id = new.conversation_id for update;
  if not found then
    return null;
  end if;
  select case when new.turn_id is null or role <> 'assistant' then seq else seq - 1 end into whole from messages
  where owner_id = new.owner_id and conversation_id = new.conversation_id and seq = new.message_count;
  agents := greatest(jsonb_array_length(coalesce(new.agent_path, '[]')) - 1, 0);
  for at in topic.told_agents + 1 .. agents loop
    perform tell_live(new.owner_id, new.conversation_id, 'handoff', jsonb_build_object('at', at));
  end loop;
  for seq in topic.told_seq + 1 .. coalesce(whole, 0) loop
    perform tell_live(new.owner_id, new.conversation_id, 'message', jsonb_build_object('seq', seq));
  end loop;
  if (old.is_muted, old.taken_over) is distinct from (new.is_muted, new.taken_over) then
    perform tell_live(new.owner_id, new.conversation_id, 'operator',
      jsonb_build_object('isMuted', new.is_muted, 'takenOver', new.taken_over - 'idleMs'));
  end if;
  if old.status = 'IN_PROGRESS' and new.status <> 'IN_PROGRESS' then
    perform tell_live(new.owner_id, new.conversation_id, 'ended', '{}');
  end if;
  if agents > topic.told_agents or whole > topic.told_seq then
    update live_topics set told_agents = agents, told_seq = greatest(told_seq, coalesce(whole, 0))
    where owner_id = new.owner_id and conversation_id = new.conversation_id;
  end if;
  return null;
end $$;
-- At the commit, behind the tool calls of the same statement, so that nothing is told after the end.
create constraint trigger conversations_told after update on conversations deferrable initially deferred
  for each row when (new.watched_until >= new.updated_at) execute function tell_of_conversation();

create function tell_of_tool_call() returns trigger language plpgsql set search_path from current as $$
begin
  if tg_op = 'UPDATE' and new.state in ('REQUESTED', 'RUNNING') then
    return null;
  end if;
  perform pg_advisory_xact_lock_shared(lock_live_topic(new.owner_id, new.conversation_id));
  if tg_op = 'INSERT' then
    perform tell_live(new.owner_id, new.conversation_id, 'tool_call', jsonb_build_object('id', new.tool_call_id));
  end if;
  if new.state not in ('REQUESTED', 'RUNNING') then
    perform tell_live(new.owner_id, new.conversation_id, 'tool_result', jsonb_build_object('id', new.tool_call_id));
  end if;
  return null;
end $$;
create trigger tool_calls_told after insert or update of state on tool_calls
  for each row execute function tell_of_tool_call();

-- To those who watch all conversations of the owner, experiments left out.
create function tell_of_all() returns trigger language plpgsql set search_path from current as $$
declare
  everything constant uuid := '00000000-0000-0000-0000-000000000000';
begin
  perform pg_advisory_xact_lock_shared(lock_live_topic(new.owner_id, everything));
  perform tell_live(new.owner_id, everything, case when new.status = 'IN_PROGRESS' then 'started' else 'ended' end,
    jsonb_build_object('id', new.conversation_id));
  return null;
end $$;
create trigger conversations_begun_told after insert on conversations
  for each row when (not new.is_experiment and (not new.is_starting or new.status <> 'IN_PROGRESS')) execute function tell_of_all();
create trigger conversations_begun_told_late after update of is_starting on conversations
  for each row when (old.is_starting and not new.is_starting and new.status = 'IN_PROGRESS' and not new.is_experiment)
  execute function tell_of_all();
create trigger conversations_ended_told after update of status on conversations
  for each row when (old.status = 'IN_PROGRESS' and new.status <> 'IN_PROGRESS' and not new.is_experiment)
  execute function tell_of_all();

-- Conditions of which their owners are told (src/alerts).
create table alerts (
  owner_id text not null,
  alert_id text not null,
  name text not null,
  enabled boolean not null,
  metric text not null,
  -- Null: all agents.
  agent_id text,
  window_minutes integer not null,
  threshold double precision not null,
  minimum_count integer not null,
  is_open boolean not null default false,
  -- Of the last check.
  value double precision,
  count integer,
  checked_at timestamptz,
  opened_at timestamptz,
  resolved_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (owner_id, alert_id)
);

-- Owners who have been given the first alerts, which they may have deleted.
create table alert_owners (
  owner_id text primary key
);
