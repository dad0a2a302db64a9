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
