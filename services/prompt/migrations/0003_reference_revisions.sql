-- The newest change of each agent's references that was here: a call of an older one that was held up on its way is left aside.
create table reference_revisions (
  owner_id text not null,
  agent_id text not null,
  revision bigint not null,
  -- When the agent went; kept until no call of before can still be on its way.
  gone_at timestamptz,
  primary key (owner_id, agent_id)
);
create index reference_revisions_gone on reference_revisions (gone_at) where gone_at is not null;
