-- When the person last edited the message, by WhatsApp's clock in seconds: callbacks of several edits may overtake each other.
alter table incoming_messages add column changed_at bigint not null default 0;
