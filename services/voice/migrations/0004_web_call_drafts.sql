-- The draft of the agent that the call tries (agent service, 0010_drafts).
alter table web_calls add column draft_id text;
