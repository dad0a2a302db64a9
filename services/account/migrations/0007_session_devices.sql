-- Tells an owner which browser a session belongs to.
alter table sessions add column user_agent text not null default '';
