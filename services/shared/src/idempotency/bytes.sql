-- As in stored-bytes/table.sql, but a trigger's second argument may name the table with the sums.
create or replace function count_stored_bytes() returns trigger language plpgsql set search_path from current as $$
declare
  added text := format('select owner_id, (%s)::bigint as bytes from added as counted', tg_argv[0]);
  removed text := format('select owner_id, -(%s)::bigint as bytes from removed as counted', tg_argv[0]);
begin
  execute format(
    'insert into %I as known (owner_id, bytes)
     select owner_id, sum(bytes) from (%s) as changes group by owner_id having sum(bytes) <> 0 order by owner_id
     on conflict (owner_id) do update set bytes = known.bytes + excluded.bytes',
    coalesce(tg_argv[1], 'stored_bytes'),
    case tg_op when 'INSERT' then added when 'DELETE' then removed else added || ' union all ' || removed end
  );
  return null;
end $$;

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
insert into idempotency_bytes (owner_id, bytes)
select owner_id, sum(octet_length(response)) from idempotency_keys where response is not null group by owner_id;
