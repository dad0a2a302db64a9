create table prompts (
  owner_id text not null,
  prompt_name text not null,
  prompt_id text not null,
  prompt_type text not null check (prompt_type in ('main', 'analysis')),
  latest_version integer not null,
  -- The agent this prompt was made for from inline content, and goes with.
  internal_agent_id text,
  created_at timestamptz not null,
  -- When the latest version was made.
  updated_at timestamptz not null,
  primary key (owner_id, prompt_name)
);
create index prompts_newest on prompts (owner_id, updated_at desc, prompt_name);
create index prompts_internal on prompts (owner_id, internal_agent_id) where internal_agent_id is not null;

create table prompt_versions (
  owner_id text not null,
  prompt_name text not null,
  -- 1, 2, 3 … without a gap: handed out under the lock of the row in prompts.
  prompt_version integer not null,
  content text not null check (content <> ''),
  created_at timestamptz not null,
  primary key (owner_id, prompt_name, prompt_version),
  foreign key (owner_id, prompt_name) references prompts on delete cascade
);
create index prompt_versions_newest on prompt_versions (owner_id, created_at desc, prompt_name, prompt_version desc);
create index prompt_versions_search on prompt_versions
  using gin (owner_id, prompt_name gin_trgm_ops, content gin_trgm_ops);

-- Which agents use a prompt. While there is one, the prompt stays.
create table prompt_references (
  owner_id text not null,
  prompt_name text not null,
  agent_id text not null,
  agent_name text not null,
  primary key (owner_id, prompt_name, agent_id),
  foreign key (owner_id, prompt_name) references prompts
);
create index prompt_references_agent on prompt_references (owner_id, agent_id);
