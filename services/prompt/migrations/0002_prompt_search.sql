-- A long text has nearly every trigram, so the index of trigrams serves the short ones alone; the long ones are few, and found here.
-- The length is known without reading the text.
drop index prompt_versions_search;
create index prompt_versions_search on prompt_versions
  using gin (owner_id, prompt_name gin_trgm_ops, content gin_trgm_ops) where octet_length(content) <= 16384;
create index prompt_versions_long on prompt_versions (owner_id, prompt_name, prompt_version)
  where octet_length(content) > 16384;
