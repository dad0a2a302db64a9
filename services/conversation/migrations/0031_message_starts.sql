-- When the first word of a spoken message was heard, and when a call's other party was on the line, as their runtime measured them.
alter table messages add column started_at timestamptz;
alter table conversations add column answered_at timestamptz;
