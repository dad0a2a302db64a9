-- Calls without a number. Every stored row met the narrower check, so none has to be read again.
alter table conversations drop constraint conversations_type_check;
alter table conversations add constraint conversations_type_check
  check (type in ('CHAT', 'TELEPHONY', 'WHATSAPP', 'DAILY', 'WEB')) not valid;
-- A further call that the agent agreed with the user: { at, reason? }.
alter table conversations add column scheduled_call jsonb;
-- Of a spoken reply: milliseconds by stage, as its runtime measured them.
alter table messages add column latency jsonb;
