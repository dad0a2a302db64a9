-- The calls that processes hold. A process extends the lease of its calls; whoever finds one that has ended completes the conversation
-- and deletes the row.
create table calls (
  owner_id text not null,
  conversation_id uuid not null,
  -- Of the process that holds it.
  process_id uuid not null,
  leased_until timestamptz not null,
  started_at timestamptz not null,
  -- The other party is on the line since then.
  connected_at timestamptz,
  primary key (owner_id, conversation_id)
);
create index calls_lease on calls (leased_until);
create index calls_of_process on calls (process_id);
