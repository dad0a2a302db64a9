-- One row a conversation of any channel; what a channel does not have is null.
create table conversations (
  owner_id text not null,
  conversation_id uuid not null,
  id text not null,
  agent_id text not null,
  type text not null check (type in ('CHAT', 'TELEPHONY', 'WHATSAPP', 'DAILY')),
  status text not null check (status in ('IN_PROGRESS', 'COMPLETED', 'DISCONNECTED', 'FAILED')),
  calling_type text check (calling_type in ('INBOUND', 'OUTBOUND')),
  -- A chat's first user message, cut.
  name text,
  -- Also the sequence number of the newest message: one transaction takes the next, so there is no gap.
  message_count integer not null default 0,
  -- The client's own.
  metadata jsonb not null default '{}',
  variables jsonb not null default '{}',
  notes text,
  analysis jsonb,
  created_by text,
  to_mobile_number text,
  from_mobile_number text,
  telephony_provider text,
  recording_url text,
  duration_seconds double precision,
  room_url text,
  room_name text,
  is_test_call boolean not null default false,
  -- Who is answering, and until when it is believed to live: one turn at a time.
  turn_id uuid,
  turn_until timestamptz,
  last_activity_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
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

create table messages (
  owner_id text not null,
  conversation_id uuid not null,
  -- 1, 2, … without a gap.
  seq integer not null,
  role text not null check (role in ('user', 'assistant')),
  content text not null,
  created_at timestamptz not null,
  -- An assistant's reply that was cut short: the client left or the provider broke.
  partial boolean not null default false,
  -- Of an assistant's reply: what produced it, and at what cost.
  provider text,
  model text,
  prompt_name text,
  prompt_version integer,
  input_tokens integer,
  output_tokens integer,
  first_word_ms integer,
  total_ms integer,
  primary key (owner_id, conversation_id, seq)
);
