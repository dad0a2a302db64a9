-- How many bytes each owner stores in the tables whose triggers count them here. Triggers, because a previous release writes too.
create table stored_bytes (
  owner_id text primary key,
  bytes bigint not null
);
