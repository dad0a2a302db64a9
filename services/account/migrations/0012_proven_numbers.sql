-- How the owner has proven that the number is theirs: CARRIER, CODE or OPERATOR; null if they have not.
alter table mobile_numbers
  add column proven_by text,
  add column proven_at timestamptz,
  -- When another owner proved that the number is theirs. The claim that they replaced has no effect, and is only shown.
  add column replaced_at timestamptz,
  -- When this claim replaced one of another owner.
  add column replaces_at timestamptz;
update mobile_numbers set proven_by = 'CARRIER', proven_at = created_at
where carrier_id is not null and telephony_provider in ('TWILIO', 'PLIVO');

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

-- Whether a trunk's calls come from an address of another owner's trunk, which was connected before.
alter table carriers add column shares_address boolean not null default false;
