-- What the models of an agent called: a row for the replies in which they called tools. The row may be there before its message, and
-- stays if the model then says nothing.
create table tool_calls (
  owner_id text not null,
  conversation_id uuid not null,
  -- Of the reply.
  seq integer not null,
  -- In order: [{ name, arguments, result, isError, isCut, startedMs, durationMs, offset }].
  calls jsonb not null,
  -- Of `calls` as it was given: reads are bounded by it, without loading what is stored out of line.
  bytes integer not null,
  primary key (owner_id, conversation_id, seq),
  -- The sweep of the release before this one does not know of the table.
  foreign key (owner_id, conversation_id) references conversations on delete cascade
);
