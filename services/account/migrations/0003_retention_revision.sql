-- Grows with every change of an owner's retention, so that the conversation service can tell a newer one from one that comes late.
alter table settings add column revision bigint not null default 1;
-- It knows of none yet.
insert into jobs (owner_id, job_id, queue, payload, due_at)
select owner_id, 'tell-retention', 'tell-retention', '{}', now() from settings
on conflict (owner_id, job_id) do nothing;
