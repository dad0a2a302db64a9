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
  -- Its process is gone before its conversation began, which may still happen: somebody looks again, and it takes no place of its owner.
  is_unbegun boolean not null default false,
  -- What another process needs to hang up the call if its own dies; null if nothing can be done, or the call was given to a transfer.
  far_end jsonb,
  primary key (owner_id, conversation_id)
);
create index calls_lease on calls (leased_until);
create index calls_of_process on calls (process_id);

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

-- Calls that a browser may make: created with the API's key, connected once with a token that the browser gets.
create table web_calls (
  owner_id text not null,
  conversation_id uuid not null,
  agent_id text not null,
  -- The draft of the agent that the call tries (agent service: agent_drafts); null for a call with the agent as it is.
  draft_id text,
  dynamic_variables jsonb not null,
  metadata jsonb not null,
  token_digest bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- Null until a browser connects.
  connected_at timestamptz,
  -- The version of the agent that was asked for; null: the one that is published when the conversation begins.
  agent_version integer,
  primary key (owner_id, conversation_id)
);
-- A token tells whose call it is; with owner_id behind it the index can be unique and distributed by owner.
create unique index web_calls_token on web_calls (token_digest, owner_id);
create index web_calls_expired on web_calls (expires_at);
-- Those that no browser has connected, which are deleted as soon as none can.
create index web_calls_unused on web_calls (expires_at) where connected_at is null;

-- A web call counts as 500 bytes more than what it was created with.
create trigger web_calls_stored after insert on web_calls referencing new table as added
  for each statement execute function count_stored_bytes('500 + octet_length(dynamic_variables::text) + octet_length(metadata::text)');
create trigger web_calls_resized after update on web_calls referencing old table as removed new table as added
  for each statement execute function count_stored_bytes('500 + octet_length(dynamic_variables::text) + octet_length(metadata::text)');
create trigger web_calls_removed after delete on web_calls referencing old table as removed
  for each statement execute function count_stored_bytes('500 + octet_length(dynamic_variables::text) + octet_length(metadata::text)');

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
  -- The batch that the call is made for, and which of its numbers; null for a single call.
  batch_id text,
  batch_number integer,
  -- The version of the agent that was asked for; null: the one that is published when the conversation begins.
  agent_version integer,
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
-- Tells calls of one carrier account apart.
create index outbound_calls_of_carrier on outbound_calls (owner_id, carrier_call_id) where carrier_call_id is not null;
create index outbound_calls_batch on outbound_calls (owner_id, batch_id, created_at desc) where batch_id is not null;
-- The calls of a number, newest first.
create index outbound_calls_number on outbound_calls (owner_id, to_mobile_number, created_at desc, call_id desc);
-- Ended calls that still have what they were made with, which nobody reads once their conversations have it.
create index outbound_calls_given on outbound_calls (ended_at)
  where status = 'ENDED' and (dynamic_variables <> '{}' or metadata <> '{}');

-- Numbers that an agent calls one after the other.
create table call_batches (
  owner_id text not null,
  batch_id text not null,
  status text not null default 'RUNNING' check (status in ('RUNNING', 'PAUSED', 'CANCELLED', 'ENDED')),
  -- What each of its calls is made with, and the carrier account of its number.
  settings jsonb not null,
  carrier_id text not null,
  provider text not null,
  total integer not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  primary key (owner_id, batch_id)
);
create index call_batches_newest on call_batches (owner_id, created_at desc, batch_id desc);
create index call_batches_ended on call_batches (ended_at);

create table batch_calls (
  owner_id text not null,
  batch_id text not null,
  number integer not null,
  to_mobile_number text not null,
  dynamic_variables jsonb not null,
  status text not null default 'PENDING' check (status in ('PENDING', 'CALLING', 'ENDED')),
  -- Calls that were made.
  attempts integer not null default 0,
  due_at timestamptz not null,
  -- Of the last call, or DO_NOT_CALL.
  outcome text,
  primary key (owner_id, batch_id, number),
  foreign key (owner_id, batch_id) references call_batches on delete cascade
);
create index batch_calls_pending on batch_calls (owner_id, batch_id, due_at, number) where status = 'PENDING';
-- A batch's numbers that are being called, which its job counts at each run.
create index batch_calls_calling on batch_calls (owner_id, batch_id) where status = 'CALLING';

create table do_not_call (
  owner_id text not null,
  mobile_number text not null,
  created_at timestamptz not null,
  primary key (owner_id, mobile_number)
);

-- How many numbers each owner's do-not-call list has; the triggers' function calls every sum `bytes`. Whoever changes a sum holds it
-- until the transaction ends, so that is the last thing that a transaction does.
create table do_not_call_totals (
  owner_id text primary key,
  bytes bigint not null
);
create trigger do_not_call_stored after insert on do_not_call referencing new table as added
  for each statement execute function count_stored_bytes('1', 'do_not_call_totals');
create trigger do_not_call_removed after delete on do_not_call referencing old table as removed
  for each statement execute function count_stored_bytes('1', 'do_not_call_totals');

-- Calls and seconds of an owner's agents to numbers outside, by UTC day.
create table call_usage (
  owner_id text not null,
  day date not null,
  calls integer not null,
  seconds double precision not null,
  primary key (owner_id, day)
);
create index call_usage_age on call_usage (day);

-- Calls in which a carrier says a sentence to whoever answers, such as the code that proves whose number it is.
create table spoken_calls (
  -- Whose carrier account makes the call: the operator's.
  owner_id text not null,
  call_id text not null,
  carrier_id text not null,
  sentence text not null,
  created_at timestamptz not null,
  primary key (owner_id, call_id)
);
-- A callback has the call's id alone; with owner_id behind it the index can be unique and distributed by owner.
create unique index spoken_calls_id on spoken_calls (call_id, owner_id);
create index spoken_calls_age on spoken_calls (created_at);

-- Calls that carriers bring. A carrier may ask twice what to do with one.
create table incoming_calls (
  owner_id text not null,
  call_id text not null,
  carrier_id text not null,
  provider text not null,
  carrier_call_id text not null,
  conversation_id uuid not null,
  agent_id text not null,
  to_mobile_number text not null,
  -- Null if withheld.
  from_mobile_number text,
  created_at timestamptz not null,
  -- Until when the call has its place without being held: its carrier has been told to stream it.
  reserved_until timestamptz,
  primary key (owner_id, call_id)
);
create unique index incoming_calls_of_carrier on incoming_calls (owner_id, carrier_id, carrier_call_id);
create index incoming_calls_age on incoming_calls (created_at);
-- How many calls carriers have reported for an owner lately.
create index incoming_calls_of_owner on incoming_calls (owner_id, created_at);
create index incoming_calls_reserved on incoming_calls (owner_id) where reserved_until is not null;

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

-- Where the SIP trunks that we registered with send their calls.
create table trunk_contacts (
  owner_id text not null,
  carrier_id text not null,
  -- The URI of the process that registered last.
  contact text not null,
  process_id uuid not null,
  primary key (owner_id, carrier_id)
);
create index trunk_contacts_process on trunk_contacts (process_id);

-- How the registrations with SIP trunks stand, whichever process registers.
create table trunk_registrations (
  owner_id text not null,
  carrier_id text not null,
  state text not null check (state in ('REGISTERED', 'REFUSED', 'UNREACHABLE')),
  since timestamptz not null,
  -- Only of a registered trunk.
  expires_at timestamptz,
  -- What a trunk refused with, and in words.
  sip_status integer,
  reason text,
  primary key (owner_id, carrier_id)
);

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
  -- The version of the agent that was asked for; null: the one that is published when the conversation begins.
  agent_version integer,
  primary key (owner_id, conversation_id),
  check ((status = 'ENDED') = (ended_at is not null)),
  check ((status = 'ENDED') = (outcome is not null))
);
-- A webhook has only the room's name; with owner_id behind it the index can be unique and distributed by owner.
create unique index daily_sessions_room on daily_sessions (room_name, owner_id);
create index daily_sessions_open on daily_sessions (owner_id) where status <> 'ENDED';
create index daily_sessions_ended on daily_sessions (ended_at);

-- Calls over carriers to people whom an agent asks before it connects its user to them. The process that holds the user's call waits for
-- their audio.
create table person_calls (
  owner_id text not null,
  call_id text not null,
  carrier_id text not null,
  provider text not null,
  -- Null until the carrier has taken the call.
  carrier_call_id text,
  -- Nobody waits for its audio anymore: it is hung up when it is answered.
  is_over boolean not null default false,
  created_at timestamptz not null,
  primary key (owner_id, call_id)
);
-- A callback has the call's id alone; with owner_id behind it the index can be unique and distributed by owner.
create unique index person_calls_id on person_calls (call_id, owner_id);
-- Tells calls of one carrier account apart.
create index person_calls_of_carrier on person_calls (owner_id, carrier_call_id) where carrier_call_id is not null;
create index person_calls_age on person_calls (created_at);

-- What operators want of calls, until the process that holds the call has answered.
create table call_commands (
  owner_id text not null,
  command_id uuid not null,
  conversation_id uuid not null,
  -- A CommandCallRequest.
  command bytea not null,
  is_answered boolean not null default false,
  -- Why the call cannot do it; null if it does.
  refusal text,
  -- The SDP for a listener.
  answer text,
  created_at timestamptz not null,
  primary key (owner_id, command_id)
);
