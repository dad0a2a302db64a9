-- For a trigger after each row of a table of changes (fold.ts), whose argument is the queue of its fold. Changes are folded some hundred
-- at a time. No worker is told: it finds the job when it polls.
create function fold_soon() returns trigger language plpgsql set search_path from current as $$
begin
  insert into jobs (owner_id, job_id, queue, payload, due_at)
  values (new.owner_id, tg_argv[0], tg_argv[0], '{}', now() + interval '3 seconds')
  on conflict (owner_id, job_id) do nothing;
  return null;
end $$;
