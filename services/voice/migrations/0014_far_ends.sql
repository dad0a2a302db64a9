-- What another process needs to hang up the call if its own dies; null if nothing can be done, or the call was given to a transfer.
alter table calls add column far_end jsonb;
