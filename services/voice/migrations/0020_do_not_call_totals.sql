-- How many numbers each owner's do-not-call list has; the triggers' function calls every sum `bytes`. Whoever changes a sum holds it
-- until the transaction ends, so that is the last thing that a transaction does.
create table do_not_call_totals (
  owner_id text primary key,
  bytes bigint not null
);
create trigger do_not_call_stored after insert on do_not_call referencing new table as added
  for each statement execute function count_stored_bytes('1', 'do_not_call_totals');
create trigger do_not_call_removed after delete on do_not_call referencing old table as removed
  for each statement execute function count_stored_bytes('1', 'do_not_call_totals');
insert into do_not_call_totals (owner_id, bytes) select owner_id, count(*) from do_not_call group by owner_id;
