-- What became of a message that was sent over a channel such as WhatsApp.
alter table messages
  add column delivery_status text check (delivery_status in ('sent', 'delivered', 'read', 'failed')),
  -- Why it failed: the channel's code.
  add column delivery_error text;
