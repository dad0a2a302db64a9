-- How the agent takes turns in a call, and what it says when one cannot go on.
alter table agents add column call_settings jsonb;
