-- A reply that takes long is stored while it is made, as a partial message without total_ms, and replaced by the whole one. It is
-- counted as a reply when it is inserted (0007_usage); its tokens, known at the end, are counted then.
create function count_reply_tokens() returns trigger language plpgsql set search_path from current as $$
begin
  insert into usage_days (owner_id, day, shard, input_tokens, output_tokens)
  values (new.owner_id, (new.created_at at time zone 'UTC')::date, pg_backend_pid() % 64, coalesce(new.input_tokens, 0),
    coalesce(new.output_tokens, 0))
  on conflict (owner_id, day, shard) do update set
    input_tokens = usage_days.input_tokens + excluded.input_tokens,
    output_tokens = usage_days.output_tokens + excluded.output_tokens;
  return null;
end $$;
create trigger messages_finished after update of total_ms on messages
  for each row when (new.provider is not null and old.total_ms is null and new.total_ms is not null)
  execute function count_reply_tokens();
