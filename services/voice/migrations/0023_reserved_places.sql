-- Until when an incoming call has its place without being held: its carrier has been told to stream it.
alter table incoming_calls add column reserved_until timestamptz;
create index incoming_calls_reserved on incoming_calls (owner_id) where reserved_until is not null;
