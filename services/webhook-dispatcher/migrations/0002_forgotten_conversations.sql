-- Of a conversation that was to be gone: null, and its deliveries stay in the log, to be sent no more.
alter table events alter column payload drop not null;
alter table deliveries add column forgotten boolean not null default false;
-- What is pending has something to send. Not looked for in the rows that are there: none is forgotten yet.
alter table deliveries add constraint deliveries_forgotten_check check (status <> 'pending' or not forgotten) not valid;
