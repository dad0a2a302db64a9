-- Notified after the commit (announce.ts). Jobs of an earlier release's processes are found by the next poll.
drop trigger jobs_notify on jobs;
drop function notify_jobs();
