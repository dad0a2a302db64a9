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
-- A long text has nearly every trigram, so the index of trigrams serves the short ones alone; the long ones are few, and found by
-- the other index. The length is known without reading the text.
create index prompt_versions_search on prompt_versions
  using gin (owner_id, prompt_name gin_trgm_ops, content gin_trgm_ops) where octet_length(content) <= 16384;
create index prompt_versions_long on prompt_versions (owner_id, prompt_name, prompt_version)
  where octet_length(content) > 16384;

-- A version counts as 500 bytes more than its name and text; no version is ever updated.
create trigger prompt_versions_stored after insert on prompt_versions referencing new table as added
  for each statement execute function count_stored_bytes('500 + octet_length(prompt_name) + octet_length(content)');
create trigger prompt_versions_removed after delete on prompt_versions referencing old table as removed
  for each statement execute function count_stored_bytes('500 + octet_length(prompt_name) + octet_length(content)');

-- Names for versions. Changes lock the row in prompts.
create table prompt_labels (
  owner_id text not null,
  prompt_name text not null,
  label text not null,
  prompt_version integer not null,
  -- When it was set to this version.
  updated_at timestamptz not null,
  primary key (owner_id, prompt_name, label),
  foreign key (owner_id, prompt_name, prompt_version) references prompt_versions on delete cascade
);

-- Which agents use a prompt. While there is one, the prompt stays.
create table prompt_references (
  owner_id text not null,
  prompt_name text not null,
  agent_id text not null,
  agent_name text not null,
  -- The labels that the agent follows. While there is one, the label stays.
  labels text[] not null default '{}',
  primary key (owner_id, prompt_name, agent_id),
  foreign key (owner_id, prompt_name) references prompts
);
create index prompt_references_agent on prompt_references (owner_id, agent_id);

-- The newest change of each agent's references that was here: a call of an older one that was held up on its way is left aside.
create table reference_revisions (
  owner_id text not null,
  agent_id text not null,
  revision bigint not null,
  -- When the agent went; kept until no call of before can still be on its way.
  gone_at timestamptz,
  primary key (owner_id, agent_id)
);
create index reference_revisions_gone on reference_revisions (gone_at) where gone_at is not null;
