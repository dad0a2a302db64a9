-- For a trigger after each statement; its first argument is the size of a row as an expression, in which the row is called `counted`,
-- its second one, if any, the table with the sums. Transition tables: `added` are the new rows, `removed` the old ones.
create function count_stored_bytes() returns trigger language plpgsql set search_path from current as $$
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
