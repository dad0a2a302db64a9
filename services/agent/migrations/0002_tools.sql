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
  -- The server that is asked before a conversation; its secret and the values of its headers are sealed.
  add column start_webhook jsonb;
-- An agent's row as text is longer now.
update stored_bytes set bytes = counted.bytes
from (
  select owner_id, sum(500 + octet_length(agents::text) - octet_length(updated_at::text)) as bytes
  from agents group by owner_id
) as counted
where stored_bytes.owner_id = counted.owner_id;
