-- A batch's numbers that are being called, which its job counts at each run.
create index batch_calls_calling on batch_calls (owner_id, batch_id) where status = 'CALLING';
