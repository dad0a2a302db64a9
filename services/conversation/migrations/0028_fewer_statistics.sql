-- No statement selects rows by these columns. Collecting their statistics took a third of the time of an analyze of conversations,
-- and most of one of tool calls, which keeps a core busy for half a second.
alter table conversations
  alter column metadata set statistics 0,
  alter column variables set statistics 0,
  alter column notes set statistics 0,
  alter column analysis set statistics 0,
  alter column created_by set statistics 0,
  alter column recording_url set statistics 0,
  alter column room_url set statistics 0,
  alter column room_name set statistics 0,
  alter column traceparent set statistics 0,
  alter column scheduled_call set statistics 0;
alter table messages
  alter column content set statistics 0,
  alter column latency set statistics 0,
  alter column delivery_error set statistics 0;
alter table tool_calls alter column calls set statistics 0;
