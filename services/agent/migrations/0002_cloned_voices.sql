-- Voices that an owner cloned at a provider, shown to that owner alone.
create table cloned_voices (
  owner_id text not null,
  provider_name text not null,
  voice_id text not null,
  name text not null,
  gender text not null check (gender in ('MALE', 'FEMALE', 'NEUTRAL')),
  language text not null,
  preview_url text,
  created_at timestamptz not null,
  primary key (owner_id, provider_name, voice_id)
);
