-- The media WebSockets that carriers were told to open: each is accepted once, by whichever process it reaches.
create table media_streams (
  owner_id text not null,
  call_id text not null,
  dialect text not null,
  token_digest bytea not null,
  expires_at timestamptz not null,
  primary key (owner_id, token_digest)
);

-- A token tells whose call it is; with owner_id behind it the index can be unique and distributed by owner.
create unique index media_streams_token on media_streams (token_digest, owner_id);
create index media_streams_expired on media_streams (expires_at);
