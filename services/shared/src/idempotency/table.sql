-- What a write with an idempotency key answered, for requests that repeat it within a day.
create table idempotency_keys (
  owner_id text not null,
  idempotency_key text not null,
  fingerprint bytea not null,
  -- The encoded response message, or the error thrown in its place; neither while the first request runs, which nobody else sees.
  response bytea,
  error jsonb,
  created_at timestamptz not null,
  primary key (owner_id, idempotency_key)
);
create index idempotency_keys_age on idempotency_keys (created_at);
