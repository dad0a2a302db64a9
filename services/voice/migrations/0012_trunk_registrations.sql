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
