-- What a search of conversations finds and counts them by, without reading transcripts (docs/architecture.md: How a search goes).

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

-- The texts of conversations that ended, which change no more, numbered in the order in which they came here.
create table search_documents (
  owner_id text not null,
  number integer not null,
  conversation_id uuid not null,
  -- In lower case; between two messages or values a U+001E.
  text text not null,
  primary key (owner_id, number)
);
create unique index search_documents_of_conversations on search_documents (owner_id, conversation_id);

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
  -- gram: one or two characters of a text. word: what stands between white space. fact: something a filter asks for.
  kind text not null check (kind in ('gram', 'word', 'fact')),
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
  -- Indexed some hundred at a time. Due so late that no notification is sent (0000_jobs).
  if random() < 1.0 / 128 then
    insert into jobs (owner_id, job_id, queue, payload, due_at)
    values (new.owner_id, 'index-conversations', 'index-conversations', '{}', now() + interval '3 seconds')
    on conflict (owner_id, job_id) do nothing;
  end if;
  return null;
end $$;
create trigger conversations_await_search_index after insert on conversations
  for each row execute function await_search_index();

create function leave_search_index() returns trigger language plpgsql set search_path from current as $$
begin
  delete from search_waiting where owner_id = old.owner_id and conversation_id = old.conversation_id;
  if not found then
    with gone as (
      delete from search_documents where owner_id = old.owner_id and conversation_id = old.conversation_id
      returning owner_id, number
    )
    insert into search_gone (owner_id, number, gone_at) select owner_id, number, now() from gone;
  end if;
  return null;
end $$;
create trigger conversations_leave_search_index after delete on conversations
  for each row execute function leave_search_index();

-- Takes in an owner's conversations that came in past the triggers.
create function index_conversations_again(owner text) returns void language sql set search_path from current as $$
  insert into search_waiting (owner_id, conversation_id)
  select owner_id, conversation_id from conversations
  where owner_id = owner and not exists (
    select 1 from search_documents as document
    where document.owner_id = conversations.owner_id and document.conversation_id = conversations.conversation_id
  )
  on conflict (owner_id, conversation_id) do nothing;
  insert into jobs (owner_id, job_id, queue, payload, due_at)
  values (owner, 'index-conversations', 'index-conversations', '{}', now() + interval '3 seconds')
  on conflict (owner_id, job_id) do nothing;
$$;
