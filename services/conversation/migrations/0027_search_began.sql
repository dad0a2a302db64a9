-- When a numbered conversation began, so that a search need not look up each of those that are not indexed yet. Null where an
-- earlier release numbered it.
alter table search_documents add column began_at timestamptz;
