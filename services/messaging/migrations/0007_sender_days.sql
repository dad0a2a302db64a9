-- How many messages one sender, a person on WhatsApp or a visitor's address, has sent to an owner's agents on a UTC day, so that
-- nobody uses up the owner's day alone.
create table sender_days (
  owner_id text not null,
  day date not null,
  sender text not null,
  messages integer not null,
  primary key (owner_id, day, sender)
);
create index sender_days_day on sender_days (day);
