-- How many bytes each owner stores: the owner's sum in stored_bytes and the owner's rows in stored_changes together, exact at every
-- moment. Triggers add the changes.
create table stored_bytes (
  owner_id text primary key,
  bytes bigint not null
);

-- Rows are only ever added, so that an owner's writes do not wait for each other, until a job folds them into stored_bytes.
create table stored_changes (
  owner_id text not null,
  change_id bigint not null generated always as identity,
  bytes bigint not null,
  primary key (owner_id, change_id)
);

-- Large ones and deletions soon.
create trigger stored_changed after insert on stored_changes
  for each row when (new.change_id % 256 = 0 or new.bytes not between 0 and 65535)
  execute function fold_soon('fold-stored-bytes');
