-- How many bytes the responses in `idempotency_keys` have, for each owner. Whoever changes a sum holds it until the transaction ends,
-- so that is the last thing that a transaction does.
create table idempotency_bytes (
  owner_id text primary key,
  bytes bigint not null
);
create trigger idempotency_keys_stored after insert on idempotency_keys referencing new table as added
  for each statement execute function count_stored_bytes('coalesce(octet_length(response), 0)', 'idempotency_bytes');
create trigger idempotency_keys_resized after update on idempotency_keys referencing old table as removed new table as added
  for each statement execute function count_stored_bytes('coalesce(octet_length(response), 0)', 'idempotency_bytes');
create trigger idempotency_keys_removed after delete on idempotency_keys referencing old table as removed
  for each statement execute function count_stored_bytes('coalesce(octet_length(response), 0)', 'idempotency_bytes');
