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
