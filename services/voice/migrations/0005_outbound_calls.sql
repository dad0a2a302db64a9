-- Calls that agents make. A row is written before the carrier is asked for anything, and ends once.
create table outbound_calls (
  owner_id text not null,
  call_id text not null,
  conversation_id uuid not null,
  agent_id text not null,
  carrier_id text not null,
  provider text not null,
  to_mobile_number text not null,
  from_mobile_number text not null,
  dynamic_variables jsonb not null,
  metadata jsonb not null,
  is_test_call boolean not null,
  max_duration_seconds integer not null,
  ring_seconds integer not null,
  -- Null: machines are not told from people.
  voicemail text check (voicemail in ('hang_up', 'leave_message')),
  -- PLACING while the carrier is being asked for the call and its answer is not stored.
  status text not null default 'QUEUED' check (status in ('QUEUED', 'PLACING', 'RINGING', 'IN_PROGRESS', 'ENDED')),
  -- Times that the carrier was asked to ring.
  attempts integer not null default 0,
  -- QUEUED: not to be placed before. PLACING: when the attempt is over for sure, whoever makes it.
  due_at timestamptz not null,
  carrier_call_id text,
  -- The owner wants it to end.
  is_unwanted boolean not null default false,
  -- What is known of a machine that answered; null: nothing, or a person did.
  machine text check (machine in ('answered', 'ready')),
  created_at timestamptz not null,
  placed_at timestamptz,
  answered_at timestamptz,
  ended_at timestamptz,
  duration_seconds double precision,
  outcome text check (outcome in ('SUCCESS', 'NO_ANSWER', 'BUSY', 'CANCELLED', 'HUNG_UP_EARLY', 'ERROR')),
  notes text,
  primary key (owner_id, call_id),
  check ((status = 'ENDED') = (ended_at is not null)),
  check ((status = 'ENDED') = (outcome is not null))
);
-- A carrier's callback has only the call's id; with owner_id behind it the index can be unique and distributed by owner.
create unique index outbound_calls_id on outbound_calls (call_id, owner_id);
create unique index outbound_calls_conversation on outbound_calls (owner_id, conversation_id);
create index outbound_calls_newest on outbound_calls (owner_id, created_at desc, call_id desc);
create index outbound_calls_queue on outbound_calls (owner_id, carrier_id, created_at, call_id) where status = 'QUEUED';
-- Those that take one of the owner's places.
create index outbound_calls_live on outbound_calls (owner_id) where status in ('PLACING', 'RINGING', 'IN_PROGRESS');
-- A carrier account's last attempts, for its rate.
create index outbound_calls_placed on outbound_calls (owner_id, carrier_id, placed_at);
create index outbound_calls_ended on outbound_calls (ended_at);
