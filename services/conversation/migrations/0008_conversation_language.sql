-- That the agent's model set a chat to, a BCP 47 tag: every further turn is told.
alter table conversations add column language text;
