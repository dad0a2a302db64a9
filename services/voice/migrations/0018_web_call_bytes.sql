-- A web call counts as 500 bytes more than what it was created with.
create trigger web_calls_stored after insert on web_calls referencing new table as added
  for each statement execute function count_stored_bytes('500 + octet_length(dynamic_variables::text) + octet_length(metadata::text)');
create trigger web_calls_resized after update on web_calls referencing old table as removed new table as added
  for each statement execute function count_stored_bytes('500 + octet_length(dynamic_variables::text) + octet_length(metadata::text)');
create trigger web_calls_removed after delete on web_calls referencing old table as removed
  for each statement execute function count_stored_bytes('500 + octet_length(dynamic_variables::text) + octet_length(metadata::text)');
insert into stored_bytes (owner_id, bytes)
select owner_id, sum(500 + octet_length(dynamic_variables::text) + octet_length(metadata::text)) from web_calls group by owner_id;
-- Those that no browser has connected, which are deleted as soon as none can.
create index web_calls_unused on web_calls (expires_at) where connected_at is null;
