-- Which request an idempotency key was first sent with, whichever service does its write: the answers are with those.
create table idempotency_claims (
  owner_id text not null,
  idempotency_key text not null,
  -- Of method, route and body.
  fingerprint bytea not null,
  claimed_at timestamptz not null,
  primary key (owner_id, idempotency_key)
);
create index idempotency_claims_age on idempotency_claims (claimed_at);
