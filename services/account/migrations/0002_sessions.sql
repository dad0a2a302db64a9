-- Only for an owner who has one.
create table passwords (
  owner_id text primary key references owners,
  -- Argon2id in PHC form, its parameters and salt with it.
  password_hash text not null,
  updated_at timestamptz not null
);

create table sessions (
  owner_id text not null references owners,
  session_id text not null,
  digest bytea not null,
  created_at timestamptz not null,
  -- Not exact: noted once in a while.
  last_used_at timestamptz not null,
  primary key (owner_id, session_id)
);
-- A session is looked up by its digest alone, as a key is.
create unique index sessions_digest on sessions (digest, owner_id);
-- Those left unused are removed.
create index sessions_last_used on sessions (last_used_at);
