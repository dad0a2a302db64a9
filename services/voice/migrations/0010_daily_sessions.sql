-- Daily rooms that an agent joins. A row is written before Daily is asked for anything, and ends once.
create table daily_sessions (
  owner_id text not null,
  conversation_id uuid not null,
  agent_id text not null,
  -- The owner's connection car_…, or `operator` for the operator's domain.
  connection text not null,
  room_name text not null,
  -- Null until Daily has made the room.
  room_url text,
  sip_uri text,
  dynamic_variables jsonb not null,
  metadata jsonb not null,
  -- CREATING while Daily is asked for the room, WAITING for the other party, IN_PROGRESS while the agent is with it.
  status text not null default 'CREATING' check (status in ('CREATING', 'WAITING', 'IN_PROGRESS', 'ENDED')),
  -- Whether the conversation has begun.
  is_started boolean not null default false,
  -- CREATING: when nobody makes the room any more. WAITING: when the other party should have come.
  waits_until timestamptz not null,
  expires_at timestamptz not null,
  -- Daily's id for the other party's stay in the room; null if it is not there.
  participant_id text,
  -- The stays that are over, newest last, because a stay may be told of after its end.
  left_ids text[] not null default '{}',
  -- The other party was first missed in the room then.
  absent_since timestamptz,
  -- The other party has left the agent alone.
  is_over boolean not null default false,
  created_at timestamptz not null,
  answered_at timestamptz,
  ended_at timestamptz,
  duration_seconds double precision,
  outcome text check (outcome in ('SUCCESS', 'NO_ANSWER', 'BUSY', 'CANCELLED', 'HUNG_UP_EARLY', 'ERROR')),
  notes text,
  -- No process held the call at its end, so a job completes the conversation.
  is_to_complete boolean not null default false,
  -- Daily has no such room any more, or nobody can ask it.
  is_room_gone boolean not null default false,
  primary key (owner_id, conversation_id),
  check ((status = 'ENDED') = (ended_at is not null)),
  check ((status = 'ENDED') = (outcome is not null))
);
-- A webhook has only the room's name; with owner_id behind it the index can be unique and distributed by owner.
create unique index daily_sessions_room on daily_sessions (room_name, owner_id);
create index daily_sessions_open on daily_sessions (owner_id) where status <> 'ENDED';
create index daily_sessions_ended on daily_sessions (ended_at);
