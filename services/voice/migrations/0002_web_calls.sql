-- Calls that a browser may make: created with the API's key, connected once with a token that the browser gets.
create table web_calls (
  owner_id text not null,
  conversation_id uuid not null,
  agent_id text not null,
  dynamic_variables jsonb not null,
  metadata jsonb not null,
  token_digest bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- Null until a browser connects.
  connected_at timestamptz,
  primary key (owner_id, conversation_id)
);

-- A token tells whose call it is; with owner_id behind it the index can be unique and distributed by owner.
create unique index web_calls_token on web_calls (token_digest, owner_id);
create index web_calls_expired on web_calls (expires_at);
