-- A version counts as 500 bytes more than its name and text; no version is ever updated.
create trigger prompt_versions_stored after insert on prompt_versions referencing new table as added
  for each statement execute function count_stored_bytes('500 + octet_length(prompt_name) + octet_length(content)');
create trigger prompt_versions_removed after delete on prompt_versions referencing old table as removed
  for each statement execute function count_stored_bytes('500 + octet_length(prompt_name) + octet_length(content)');
insert into stored_bytes (owner_id, bytes)
select owner_id, sum(500 + octet_length(prompt_name) + octet_length(content)) from prompt_versions group by owner_id;
