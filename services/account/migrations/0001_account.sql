create table owners (
  owner_id text primary key,
  name text not null,
  email text not null,
  tier text not null,
  -- Requests per minute, where the tier leaves them open.
  custom_rate_limit integer,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz
);
-- An email is one owner's, which a lock keeps and no unique index: one without owner_id cannot be distributed by owner.
create index owners_email on owners (lower(email)) where deleted_at is null;

-- A row only for an owner who changed something.
create table settings (
  owner_id text primary key references owners,
  -- Null where the owner has chosen nothing.
  retention_days integer,
  -- Grows with every change, so that the conversation service can tell a newer one from one that comes late.
  revision bigint not null default 1,
  updated_at timestamptz not null,
  -- IANA.
  timezone text
);

-- What the operator allows an owner's agents to call; null where the installation's default applies.
create table call_policies (
  owner_id text primary key references owners,
  -- ISO 3166-1 codes; null: the countries of the owner's numbers.
  countries text[],
  calls_per_day integer,
  minutes_per_day integer
);

-- Keys, passwords and sessions.

create table api_keys (
  owner_id text not null references owners,
  key_id text not null,
  name text,
  prefix text not null,
  digest bytea not null,
  scopes text[] not null,
  active boolean not null,
  expires_at timestamptz,
  created_at timestamptz not null,
  -- Tells an owner which keys are still in use.
  last_used_at timestamptz,
  primary key (owner_id, key_id)
);
-- A key is looked up by its digest alone; with owner_id behind it the index can be unique and distributed by owner.
create unique index api_keys_digest on api_keys (digest, owner_id);

-- Only for an owner who has one.
create table passwords (
  owner_id text primary key references owners,
  -- Argon2id in PHC form, its parameters and salt with it.
  password_hash text not null,
  updated_at timestamptz not null
);

create table sessions (
  owner_id text not null references owners,
  session_id text not null,
  digest bytea not null,
  -- Tells an owner which browser a session belongs to.
  user_agent text not null,
  created_at timestamptz not null,
  -- Not exact: noted once in a while.
  last_used_at timestamptz not null,
  primary key (owner_id, session_id)
);
-- A session is looked up by its digest alone, as a key is.
create unique index sessions_digest on sessions (digest, owner_id);
-- Those left unused are removed.
create index sessions_last_used on sessions (last_used_at);

-- Which request an idempotency key was first sent with, whichever service does its write: the answers are with those.
create table idempotency_claims (
  owner_id text not null,
  idempotency_key text not null,
  -- Of method, route and body.
  fingerprint bytea not null,
  claimed_at timestamptz not null,
  primary key (owner_id, idempotency_key)
);
create index idempotency_claims_age on idempotency_claims (claimed_at);

-- Carriers and their numbers.

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
  -- Whether a trunk's calls come from an address of another owner's trunk, which was connected before.
  shares_address boolean not null default false,
  created_at timestamptz not null,
  -- Set while numbers still get back what they had before; then the row goes.
  disconnected_at timestamptz,
  primary key (owner_id, carrier_id)
);
-- A callback has the carrier's id alone; with owner_id behind it the index can be unique and distributed by owner.
create unique index carriers_id on carriers (carrier_id, owner_id);
create unique index carriers_account on carriers (owner_id, provider, account);
-- Trunks that want a registration, of all owners.
create index carriers_sip on carriers (carrier_id) where provider = 'SIP' and disconnected_at is null;

create table mobile_numbers (
  owner_id text not null references owners,
  mobile_number text not null,
  telephony_provider text not null,
  -- Null for a number that was only added.
  carrier_id text,
  -- What the number had at its carrier before it was imported.
  before jsonb,
  created_at timestamptz not null,
  -- How the owner has proven that the number is theirs: CARRIER, CODE or OPERATOR; null if they have not.
  proven_by text,
  proven_at timestamptz,
  -- When another owner proved that the number is theirs. The claim that they replaced has no effect, and is only shown.
  replaced_at timestamptz,
  -- When this claim replaced one of another owner.
  replaces_at timestamptz,
  primary key (owner_id, mobile_number)
);
-- A number is one owner's, kept like the email's.
create index mobile_numbers_number on mobile_numbers (mobile_number);
create index mobile_numbers_carrier on mobile_numbers (owner_id, carrier_id) where carrier_id is not null;

-- The code that a call has told at a number, for the owner who asked for it.
create table number_codes (
  owner_id text not null references owners,
  mobile_number text not null,
  code_digest bytea not null,
  -- How often a code was told since `first_at`, and entered since it was told.
  calls integer not null,
  first_at timestamptz not null,
  tries integer not null,
  expires_at timestamptz not null,
  primary key (owner_id, mobile_number)
);
create index number_codes_number on number_codes (mobile_number);

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
