-- What a person and an owner's connection to a channel, such as a number, write each other.
create table threads (
  owner_id text not null,
  carrier_id text not null,
  -- The person, as the channel names it, such as a phone number without its plus.
  contact text not null,
  channel text not null,
  -- The conversation that the next message belongs to, if it has not ended; null before the first one.
  conversation_id uuid,
  agent_id text,
  -- The turn under way, which is repeated until there is a reply or it is given up; null between turns.
  turn_id uuid,
  turn_text text,
  -- Whether the person spoke, and not only wrote.
  turn_was_spoken boolean not null default false,
  turn_began_at timestamptz,
  turn_attempts integer not null default 0,
  turn_due_at timestamptz,
  updated_at timestamptz not null,
  primary key (owner_id, carrier_id, contact)
);
create index threads_updated on threads (updated_at);

-- Messages of persons. Each id is taken once; what was said goes when a turn has taken it.
create table incoming_messages (
  owner_id text not null,
  carrier_id text not null,
  -- The channel's.
  message_id text not null,
  contact text not null,
  position bigint not null generated always as identity,
  -- { type: text, text } or { type: voice, mediaId }; null once a turn has it.
  content jsonb,
  received_at timestamptz not null,
  -- When the person last edited the message, by the channel's clock in seconds: callbacks of several edits may overtake each other.
  changed_at bigint not null default 0,
  primary key (owner_id, carrier_id, message_id)
);
create index incoming_messages_waiting on incoming_messages (owner_id, carrier_id, contact, position)
  where content is not null;
create index incoming_messages_received on incoming_messages (received_at);

-- Messages to persons, sent in the order of their positions.
create table outgoing_messages (
  owner_id text not null,
  message_id uuid not null,
  carrier_id text not null,
  contact text not null,
  channel text not null,
  position bigint not null generated always as identity,
  -- The item of the transcript that this is a part of; a template's has no sequence until its conversation has begun.
  conversation_id uuid not null,
  agent_id text not null,
  sequence integer,
  -- Null once it was sent or given up.
  content jsonb,
  -- `sending` from before a request until its answer is stored: only then may the message be sent without our knowing it.
  state text not null check (state in ('waiting', 'sending', 'sent', 'failed')),
  attempts integer not null default 0,
  -- Of the next attempt.
  due_at timestamptz not null,
  give_up_at timestamptz not null,
  -- The channel's id.
  external_id text,
  delivery text check (delivery in ('sent', 'delivered', 'read', 'failed')),
  error_code text,
  created_at timestamptz not null,
  primary key (owner_id, message_id)
);
create index outgoing_messages_waiting on outgoing_messages (owner_id, carrier_id, contact, position)
  where state in ('waiting', 'sending');
create index outgoing_messages_external on outgoing_messages (owner_id, carrier_id, external_id);
create index outgoing_messages_of_item on outgoing_messages (owner_id, conversation_id, sequence);
create index outgoing_messages_created on outgoing_messages (created_at);

-- How many messages people and an owner's agents have had on a channel on a UTC day. What anybody may send is the owner's cost.
create table message_days (
  owner_id text not null,
  day date not null,
  channel text not null,
  messages integer not null,
  primary key (owner_id, day, channel)
);
create index message_days_day on message_days (day);

-- How many messages one sender, such as a person or a visitor's address, has sent to an owner's agents on a channel on a UTC day, so
-- that nobody uses up the owner's day alone.
create table sender_days (
  owner_id text not null,
  day date not null,
  channel text not null,
  sender text not null,
  messages integer not null,
  primary key (owner_id, day, channel, sender)
);
create index sender_days_day on sender_days (day);

-- Owners that were deleted: their agents are still there, but visitors of pages have no widget any more.
create table deleted_owners (
  owner_id text not null primary key,
  deleted_at timestamptz not null
);
