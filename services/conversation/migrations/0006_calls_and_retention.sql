-- Every call, message thread or room that may have to be closed because its runtime died, as conversations_open_chats.
create index conversations_open_calls on conversations (created_at) where case when type <> 'CHAT' then status = 'IN_PROGRESS' end;

-- For how many days an owner's conversations are kept, as the account service told last; an owner without a row has the default.
create table owner_retention (
  owner_id text primary key,
  -- Null: the default again.
  retention_days integer check (retention_days between 1 and 3650),
  revision bigint not null
);
