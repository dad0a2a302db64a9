-- The idempotency keys of chat turns. A turn lasts far longer than a transaction, so a key is bound to its turn while that runs.
create table turn_keys (
  owner_id text not null,
  idempotency_key text not null,
  fingerprint bytea not null,
  -- The turn, once its user message is stored; until then only `error` can be set.
  conversation_id uuid,
  turn_id uuid,
  user_seq integer,
  -- Set when the turn is over: of the reply.
  done boolean not null default false,
  reply_seq integer,
  error jsonb,
  created_at timestamptz not null,
  primary key (owner_id, idempotency_key)
);
create index turn_keys_age on turn_keys (created_at);
