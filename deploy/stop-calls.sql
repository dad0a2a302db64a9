-- For a database that was set back to an earlier time, before Parley's processes start: nobody is called again. It pauses batches and
-- cancels the calls in the queue, of which others may have been made since that time. Run it with psql (docs/backup.md).
select to_regclass('voice.call_batches') is not null as has_calls \gset
\if :has_calls
with paused as (
  update voice.call_batches set status = 'PAUSED' where status = 'RUNNING' returning 1
), cancelled as (
  -- As by their owner: the voice service ends them, and asks carriers about those that may have rung.
  update voice.outbound_calls set is_unwanted = true, due_at = least(due_at, now())
  where status in ('QUEUED', 'PLACING') and not is_unwanted returning 1
)
select format(
  'Paused %s batches and cancelled %s queued calls. Their numbers may have been called after the backup, and numbers that were put on '
  'a do-not-call list after it are missing there: tell the owners before they resume a batch.',
  (select count(*) from paused), (select count(*) from cancelled));
\endif
