-- Accounts with carriers and other providers of channels.
create table carriers (
  owner_id text not null references owners,
  carrier_id text not null,
  provider text not null,
  -- Which account of the provider it is: connecting it again replaces the credentials.
  account text not null,
  -- As shown: masks in the place of secrets.
  settings jsonb not null,
  -- The secrets by field, each sealed for its owner, carrier, provider and field.
  sealed jsonb not null,
  created_at timestamptz not null,
  -- Set while numbers still get back what they had before; then the row goes.
  disconnected_at timestamptz,
  primary key (owner_id, carrier_id)
);
-- A callback has the carrier's id alone; with owner_id behind it the index can be unique and distributed by owner.
create unique index carriers_id on carriers (carrier_id, owner_id);
create unique index carriers_account on carriers (owner_id, provider, account);

alter table mobile_numbers
  -- Null for a number that was only added.
  add column carrier_id text,
  -- What the number had at its carrier before it was imported.
  add column before jsonb;
create index mobile_numbers_carrier on mobile_numbers (owner_id, carrier_id) where carrier_id is not null;

-- Removed numbers that their carrier still sends here.
create table number_restores (
  owner_id text not null references owners,
  mobile_number text not null,
  carrier_id text not null,
  before jsonb not null,
  created_at timestamptz not null,
  primary key (owner_id, mobile_number)
);
create index number_restores_carrier on number_restores (owner_id, carrier_id);
