-- The secrets that an owner's tools send. Each value is sealed for its owner and name.
create table secrets (
  owner_id text not null,
  name text not null,
  sealed_value text not null,
  version integer not null,
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (owner_id, name)
);
