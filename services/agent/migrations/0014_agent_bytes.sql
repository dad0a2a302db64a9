-- An agent counts as 500 bytes more than its row as text, but for a time whose length varies.
create trigger agents_stored after insert on agents referencing new table as added
  for each statement execute function count_stored_bytes('500 + octet_length(counted::text) - octet_length(updated_at::text)');
create trigger agents_resized after update on agents referencing old table as removed new table as added
  for each statement execute function count_stored_bytes('500 + octet_length(counted::text) - octet_length(updated_at::text)');
create trigger agents_removed after delete on agents referencing old table as removed
  for each statement execute function count_stored_bytes('500 + octet_length(counted::text) - octet_length(updated_at::text)');
insert into stored_bytes (owner_id, bytes)
select owner_id, sum(500 + octet_length(agents::text) - octet_length(updated_at::text)) from agents group by owner_id;
