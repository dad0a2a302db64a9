-- How many calls carriers have reported for an owner lately.
create index incoming_calls_of_owner on incoming_calls (owner_id, created_at);
