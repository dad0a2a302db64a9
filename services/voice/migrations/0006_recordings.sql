-- Recordings of calls: who may read which, and how much of the store each owner uses.
create table recordings (
  owner_id text not null,
  conversation_id uuid not null,
  -- 'recording' until the call is over and its file is whole; 'removing' until its file is deleted.
  state text not null check (state in ('recording', 'ready', 'removing')),
  -- Of the file; while it grows, the most that it may become.
  bytes bigint not null check (bytes >= 0),
  started_at timestamptz not null,
  finished_at timestamptz,
  primary key (owner_id, conversation_id)
);
