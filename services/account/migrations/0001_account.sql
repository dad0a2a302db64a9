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
  primary key (owner_id, key_id)
);
-- A key is looked up by its digest alone; with owner_id behind it the index can be unique and distributed by owner.
create unique index api_keys_digest on api_keys (digest, owner_id);

-- A row only for an owner who changed something.
create table settings (
  owner_id text primary key references owners,
  retention_days integer not null,
  updated_at timestamptz not null
);

create table mobile_numbers (
  owner_id text not null references owners,
  mobile_number text not null,
  telephony_provider text not null,
  created_at timestamptz not null,
  primary key (owner_id, mobile_number)
);
-- A number is one owner's, kept like the email's.
create index mobile_numbers_number on mobile_numbers (mobile_number);
