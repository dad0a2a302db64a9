create table api_keys (
  digest bytea primary key,
  owner_id text not null,
  revoked_at timestamptz
);

create table prompts (
  owner_id text not null,
  name text not null,
  content text not null,
  primary key (owner_id, name)
);

create table agents (
  owner_id text not null,
  id text not null,
  prompt_name text not null,
  llm jsonb not null,
  primary key (owner_id, id),
  foreign key (owner_id, prompt_name) references prompts
);

create table conversations (
  id uuid primary key,
  owner_id text not null,
  agent_id text not null,
  created_at timestamptz not null default now()
);
create index on conversations (owner_id, created_at);

create table messages (
  id bigint generated always as identity primary key,
  conversation_id uuid not null references conversations on delete cascade,
  role text not null,
  content text not null,
  created_at timestamptz not null default now()
);
create index on messages (conversation_id, id);
