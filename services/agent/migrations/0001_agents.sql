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
  analysis jsonb,
  prompt_name text,
  -- Null: always the latest.
  prompt_version integer,
  first_message_prompt text,
  tools jsonb,
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
