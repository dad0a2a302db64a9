-- Owners that were deleted before agents, prompts and webhooks were deleted with them.
insert into jobs (owner_id, job_id, queue, payload, due_at)
select owner_id, 'tell-deletion:' || service || ':0', 'tell-deletion', jsonb_build_object('service', service), now()
from owners cross join unnest(array['agent', 'prompt', 'webhook-dispatcher']) as told (service)
where deleted_at is not null
on conflict (owner_id, job_id) do nothing;
-- And their keys, numbers and claims, which were kept here.
insert into jobs (owner_id, job_id, queue, payload, due_at)
select owner_id, 'forget-owner', 'forget-owner', '{}', now() from owners where deleted_at is not null
on conflict (owner_id, job_id) do nothing;
