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

-- The last numbers that an owner removed: a version of an agent that answers one of them is not published.
create table removed_numbers (
  owner_id text not null references owners,
  mobile_number text not null,
  removed_at timestamptz not null,
  primary key (owner_id, mobile_number)
);
