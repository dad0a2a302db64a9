create table agents (
  owner_id text not null,
  agent_id text not null,
  agent_name text not null,
  agent_description text,
  agent_type text not null check (agent_type in ('INBOUND', 'OUTBOUND')),
  agent_category text not null,
  agent_tips text[] not null,
  agent_mobile_numbers text[] not null,
  -- The configurations as parley.agent.v1 has them; api keys inside are sealed.
  stt jsonb,
  llm jsonb,
  tts jsonb,
  sts jsonb,
  -- The fields of an analysis are asked for and shown in the order they were written in, which jsonb does not keep.
  analysis json,
  prompt_name text,
  -- Null: always the latest.
  prompt_version integer,
  first_message_prompt text,
  tools jsonb,
  -- How the agent takes turns in a call, and what it says when one cannot go on.
  call_settings jsonb,
  -- Whether calls of the agent are recorded.
  recording boolean not null default false,
  -- How the agent behaves on WhatsApp.
  whatsapp jsonb,
  widget_config jsonb,
  media_files jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (owner_id, agent_id)
);
-- Tells "another owner's" (403) from "none" (404).
create index agents_by_id on agents (agent_id);
create index agents_newest on agents (owner_id, created_at desc, agent_id desc);
create index agents_search on agents using gin
  (owner_id, (agent_name || E'\n' || coalesce(agent_description, '')) gin_trgm_ops);
-- Finds the agents that answer a number, for calls.
create index agents_mobile_numbers on agents using gin (agent_mobile_numbers);

-- An agent counts as 500 bytes more than its row as text, but for a time whose length varies.
create trigger agents_stored after insert on agents referencing new table as added
  for each statement execute function count_stored_bytes('500 + octet_length(counted::text) - octet_length(updated_at::text)');
create trigger agents_resized after update on agents referencing old table as removed new table as added
  for each statement execute function count_stored_bytes('500 + octet_length(counted::text) - octet_length(updated_at::text)');
create trigger agents_removed after delete on agents referencing old table as removed
  for each statement execute function count_stored_bytes('500 + octet_length(counted::text) - octet_length(updated_at::text)');

-- Agents as changes would make them, for the conversations that try them. Nothing here is an agent's.
create table agent_drafts (
  owner_id text not null,
  draft_id text not null,
  agent_id text not null,
  -- The agent with sealed keys, and its prompts with their text. The type `json` keeps the order of an analysis's fields.
  content json not null,
  bytes integer not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (owner_id, draft_id)
);
create index agent_drafts_expired on agent_drafts (expires_at);

-- Voices that an owner cloned at a provider, shown to that owner alone.
create table cloned_voices (
  owner_id text not null,
  provider_name text not null,
  voice_id text not null,
  name text not null,
  gender text not null check (gender in ('MALE', 'FEMALE', 'NEUTRAL')),
  language text not null,
  preview_url text,
  created_at timestamptz not null,
  primary key (owner_id, provider_name, voice_id)
);

-- Who is at a change that calls other services meanwhile, so that no transaction is open for so long (src/claim.ts).
create table claims (
  owner_id text not null,
  -- What is changed: an agent, or the request of an idempotency key.
  claim text not null,
  holder uuid not null,
  -- By the clock of this database; a holder that died loses the claim then.
  held_until timestamptz not null,
  primary key (owner_id, claim)
);

-- Orders the changes of an agent's prompt references: the prompt service leaves aside one that arrives after a newer one.
create sequence reference_revisions;
