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
  primary key (owner_id, call_id)
);
create unique index incoming_calls_of_carrier on incoming_calls (owner_id, carrier_id, carrier_call_id);
create index incoming_calls_age on incoming_calls (created_at);
-- Tells calls of one carrier account apart.
create index outbound_calls_of_carrier on outbound_calls (owner_id, carrier_call_id) where carrier_call_id is not null;
