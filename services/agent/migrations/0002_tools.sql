-- The library of an owner's tools (docs/api-reference.md#tools). The type `json` keeps the order of a schema's properties.
create table tools (
  owner_id text not null,
  tool_id text not null,
  name text not null,
  description text not null,
  type text not null check (type in ('http', 'client', 'mcp')),
  -- What parley.agent.v1.Tool has beside the columns here.
  definition json not null,
  -- The names of the owner's secrets in the definition.
  secret_names text[] not null,
  -- Of HTTP tools: whsec_…, sealed, and those from before a rotation.
  sealed_secret text,
  old_secrets jsonb not null,
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (owner_id, tool_id)
);
create unique index tools_by_name on tools (owner_id, name);
-- Tells "another owner's" (403) from "none" (404).
create index tools_by_id on tools (tool_id);
create index tools_newest on tools (owner_id, created_at desc, tool_id desc);
create trigger tools_stored after insert on tools referencing new table as added
  for each statement execute function count_stored_bytes('500 + octet_length(counted::text) - octet_length(updated_at::text)');
create trigger tools_resized after update on tools referencing old table as removed new table as added
  for each statement execute function count_stored_bytes('500 + octet_length(counted::text) - octet_length(updated_at::text)');
create trigger tools_removed after delete on tools referencing old table as removed
  for each statement execute function count_stored_bytes('500 + octet_length(counted::text) - octet_length(updated_at::text)');

alter table agents
  -- [{ toolId }], in the order in which the model sees them.
  add column custom_tools jsonb not null default '[]',
  -- As parley.agent.v1.Handoff has them.
  add column handoffs jsonb not null default '[]',
  -- [{ knowledgeBaseId, … }]: the knowledge bases that it answers from.
  add column knowledge jsonb not null default '[]',
  -- IANA.
  add column timezone text,
  -- The server that is asked before a conversation; its secret and the values of its headers are in agent_keys.
  add column start_webhook jsonb,
  -- A reference to a prompt has a version, a label, or neither: it follows the latest then.
  add column prompt_label text,
  -- The row is the newest state of the agent, which is its version latest_version.
  add column publishing text not null default 'auto' check (publishing in ('auto', 'manual')),
  add column latest_version integer not null default 0,
  add column published_version integer,
  -- The numbers that it answers: those of the published version, without those that another agent has taken over.
  add column published_numbers text[] not null default '{}',
  -- { split: [{ agentVersion, weight }], salt, slots: the version of each of 100 slots }
  add column traffic jsonb,
  -- Grows when a key or signing secret changes that versions refer to.
  add column keys_revision bigint not null default 0;
-- Finds the agents that answer a number, for calls.
drop index agents_mobile_numbers;
create index agents_published_numbers on agents using gin (published_numbers);
-- Find the agents that follow a prompt.
create index agents_prompt on agents (owner_id, prompt_name);
create index agents_analysis_prompt on agents (owner_id, (analysis ->> 'promptName'));
-- Finds the agents that use a tool.
create index agents_custom_tools on agents using gin (owner_id, custom_tools jsonb_path_ops);

-- Each state that an agent has had since it was created. No version is ever changed.
create table agent_versions (
  owner_id text not null,
  agent_id text not null,
  -- 1, 2, 3 … without a gap: handed out under the lock of the row in agents.
  agent_version integer not null,
  -- The agent's settings with its prompts and tools as they were; without any secret. Long texts are in version_texts. The type `json`
  -- keeps the order of an analysis's fields.
  content json not null,
  -- SHA-256 of the content.
  hash text not null,
  -- The hashes of the texts that the content refers to.
  texts text[] not null,
  -- As Tool.created_by has it.
  created_by text not null,
  note text,
  created_at timestamptz not null,
  primary key (owner_id, agent_id, agent_version)
);
-- Finds those that make room.
create index agent_versions_oldest on agent_versions (owner_id, created_at);
create index agent_versions_texts on agent_versions using gin (owner_id, texts);

-- Texts of prompts and definitions of tools, each once per owner, however many versions of however many agents have it.
create table version_texts (
  owner_id text not null,
  -- SHA-256 of the text.
  hash text not null,
  content text not null,
  primary key (owner_id, hash)
);

-- The keys of agents' models and servers, which their versions refer to: so each version uses the current key.
create table agent_keys (
  owner_id text not null,
  agent_id text not null,
  -- What the key is for: [provider, base_url, place], as store/agent-keys.ts writes it.
  key_use text not null,
  sealed_key text not null,
  key_mask text not null,
  primary key (owner_id, agent_id, key_use)
);

-- The publish log of agents.
create table agent_publishes (
  owner_id text not null,
  agent_id text not null,
  -- 1, 2, 3 …: handed out under the lock of the row in agents.
  number integer not null,
  -- automatic: by a change of an agent that publishes at once. test_changed, test_cleared, test_deleted: a required test was.
  kind text not null
    check (kind in ('publish', 'rollback', 'traffic', 'automatic', 'test_changed', 'test_cleared', 'test_deleted')),
  -- The version that was published.
  agent_version integer,
  -- [{ agentVersion, weight }]
  split jsonb,
  note text,
  -- Why it was published although a required test had not passed.
  override_reason text,
  -- As Tool.created_by has it.
  created_by text not null,
  created_at timestamptz not null,
  primary key (owner_id, agent_id, number)
);

create trigger agent_versions_stored after insert on agent_versions referencing new table as added
  for each statement execute function count_stored_bytes('100 + octet_length(counted::text)');
create trigger agent_versions_removed after delete on agent_versions referencing old table as removed
  for each statement execute function count_stored_bytes('100 + octet_length(counted::text)');
create trigger version_texts_stored after insert on version_texts referencing new table as added
  for each statement execute function count_stored_bytes('100 + octet_length(content)');
create trigger version_texts_removed after delete on version_texts referencing old table as removed
  for each statement execute function count_stored_bytes('100 + octet_length(content)');
create trigger agent_keys_stored after insert on agent_keys referencing new table as added
  for each statement execute function count_stored_bytes('100 + octet_length(counted::text)');
create trigger agent_keys_resized after update on agent_keys referencing old table as removed new table as added
  for each statement execute function count_stored_bytes('100 + octet_length(counted::text)');
create trigger agent_keys_removed after delete on agent_keys referencing old table as removed
  for each statement execute function count_stored_bytes('100 + octet_length(counted::text)');
create trigger agent_publishes_stored after insert on agent_publishes referencing new table as added
  for each statement execute function count_stored_bytes('100 + octet_length(counted::text)');
create trigger agent_publishes_removed after delete on agent_publishes referencing old table as removed
  for each statement execute function count_stored_bytes('100 + octet_length(counted::text)');

-- An agent's row as text is longer now.
update stored_bytes set bytes = counted.bytes
from (
  select owner_id, sum(500 + octet_length(agents::text) - octet_length(updated_at::text)) as bytes
  from agents group by owner_id
) as counted
where stored_bytes.owner_id = counted.owner_id;
