-- How the agent behaves on WhatsApp.
alter table agents add column whatsapp jsonb;
