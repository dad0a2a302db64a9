-- The processes that tell subscribers of changes. A write is answered once each of them has said that its subscribers know.
-- A row matters for a quarter of a second, so it need not survive a crash.
create unlogged table change_followers (
  follower uuid primary key,
  -- Until then its subscribers may use what they remember.
  held_until timestamptz not null,
  -- It did not answer a writer in time, and gets no further time.
  is_cut boolean not null default false
);
-- Counts the writes after which a subscriber has to forget everything.
create sequence change_gaps;

-- For a trigger after each row; its argument is the column that names what changed of the owner's.
create function tell_change() returns trigger language plpgsql set search_path from current as $$
declare
  changed record;
  name text;
begin
  if coalesce(current_setting('parley.waits_for_subscribers', true), '') = '' then
    -- A writer that does not wait for subscribers, such as an operator. So it waits here, before its commit, until no subscriber
    -- may use anything, and none may again before the lock ends with the transaction.
    lock table change_followers in share mode;
    perform nextval('change_gaps');
    perform pg_sleep(extract(epoch from max(held_until) - clock_timestamp())) from change_followers
    having max(held_until) > clock_timestamp();
    perform set_config('parley.waits_for_subscribers', '0', true);
  end if;
  if tg_op = 'INSERT' then changed := new; else changed := old; end if;
  execute format('select ($1).%I', tg_argv[0]) into name using changed;
  perform pg_notify(tg_table_schema || '.changes', json_build_array(changed.owner_id, name)::text);
  return null;
end $$;
