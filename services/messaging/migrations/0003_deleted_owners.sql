-- Owners that were deleted: their agents are still there, but visitors of pages have no widget any more.
create table deleted_owners (
  owner_id text not null primary key,
  deleted_at timestamptz not null
);
