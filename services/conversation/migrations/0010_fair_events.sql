-- Finds the owners that have events to send one after the other, and the events of each in order, so that those of one owner, however
-- many, stand before nobody else's (src/store/conversation-events.ts).
create index conversation_events_owner on conversation_events (owner_id, due_at) where due_at < 'infinity';
