create table destinations (
  owner_id text not null,
  destination_id text not null,
  name text not null,
  url text not null,
  request_type text not null check (request_type in ('GET', 'POST', 'PATCH', 'PUT')),
  enabled boolean not null,
  sealed_secret text not null,
  -- The secrets before, newest first: [{ "sealedSecret", "validUntil" }].
  old_secrets jsonb not null default '[]',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (owner_id, destination_id)
);

create table events (
  owner_id text not null,
  event_id text not null,
  event text not null,
  conversation_id text not null,
  payload text not null,
  test boolean not null,
  -- W3C trace context of what it tells of.
  traceparent text,
  created_at timestamptz not null,
  primary key (owner_id, event_id)
);
create index events_age on events using brin (created_at);

-- One for each event and destination, which may be gone by now. Without foreign keys: each would cost every delivery a look-up and a
-- lock, and what they would hold is written once, in one statement.
create table deliveries (
  owner_id text not null,
  delivery_id text not null,
  destination_id text not null,
  event_id text not null,
  conversation_id text not null,
  -- delivery-state.ts has the rules.
  status text not null check (status in ('pending', 'delivered', 'failed', 'cancelled')),
  -- Made so far, and to be made yet before it has failed.
  attempts integer not null,
  attempts_left integer not null,
  next_attempt_at timestamptz,
  created_at timestamptz not null,
  primary key (owner_id, delivery_id),
  -- What is pending has an attempt to come, so every delivery ends.
  check ((status = 'pending') = (next_attempt_at is not null)),
  check ((status = 'pending') = (attempts_left > 0))
);
-- What a destination gets next.
create index deliveries_due on deliveries (owner_id, destination_id, next_attempt_at, delivery_id) where status = 'pending';
-- The lists, newest first, for ids are ordered by time.
create index deliveries_destination on deliveries (owner_id, destination_id, delivery_id);
create index deliveries_conversation on deliveries (owner_id, conversation_id, delivery_id);
create index deliveries_unsuccessful on deliveries (owner_id, status, delivery_id) where status in ('failed', 'cancelled');
create index deliveries_age on deliveries using brin (created_at);

create table attempts (
  owner_id text not null,
  delivery_id text not null,
  number integer not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  http_status integer,
  error text,
  response_excerpt text,
  primary key (owner_id, delivery_id, number)
);
