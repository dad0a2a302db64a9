-- Tells an owner which keys are still in use.
alter table api_keys add column last_used_at timestamptz;
