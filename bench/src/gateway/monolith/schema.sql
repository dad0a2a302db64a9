create table api_keys (
  digest bytea primary key,
  key_id text not null,
  owner_id text not null,
  status text not null,
  expires_at timestamptz,
  rate_limit_per_minute integer not null
);

create table prompts (
  owner_id text not null,
  prompt_name text not null,
  latest_version integer not null,
  primary key (owner_id, prompt_name)
);
create table prompt_versions (
  owner_id text not null,
  prompt_name text not null,
  prompt_version integer not null,
  content text not null,
  primary key (owner_id, prompt_name, prompt_version)
);

create table agents (
  owner_id text not null,
  agent_id text not null,
  agent_name text not null,
  agent_description text,
  agent_type text not null,
  agent_category text not null,
  agent_tips text[] not null,
  agent_mobile_number text[] not null,
  stt jsonb,
  llm jsonb,
  tts jsonb,
  call_analysis_enabled boolean not null,
  prompt_name text not null,
  first_message_prompt text,
  dynamic_variables text[] not null,
  tools jsonb not null,
  widget_config jsonb not null,
  media_files jsonb not null,
  -- What the API shows of an agent beside these columns, by its names.
  further jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (owner_id, agent_id)
);
