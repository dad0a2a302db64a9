-- How many messages an owner's WhatsApp numbers have had on a UTC day, in and out: an owner can sign callbacks about any.
create table whatsapp_days (
  owner_id text not null,
  day date not null,
  messages integer not null,
  primary key (owner_id, day)
);
create index whatsapp_days_day on whatsapp_days (day);
