-- Whether calls of the agent are recorded.
alter table agents add column recording boolean not null default false;
