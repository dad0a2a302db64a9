-- The calls of a number, newest first.
create index outbound_calls_number on outbound_calls (owner_id, to_mobile_number, created_at desc, call_id desc);
