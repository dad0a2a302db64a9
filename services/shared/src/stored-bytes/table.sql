-- How many bytes each owner stores in the tables whose triggers count them here.
create table stored_bytes (
  owner_id text primary key,
  bytes bigint not null
);
