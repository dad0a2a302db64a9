-- Who is at a change that calls other services meanwhile, so that no transaction is open for so long (src/claim.ts).
create table claims (
  owner_id text not null,
  -- What is changed: an agent, or the request of an idempotency key.
  claim text not null,
  holder uuid not null,
  -- By the clock of this database; a holder that died loses the claim then.
  held_until timestamptz not null,
  primary key (owner_id, claim)
);

-- Orders the changes of an agent's prompt references: the prompt service leaves aside one that arrives after a newer one.
create sequence reference_revisions;
