-- What a search looks at beside the messages: every value a client gave, at any depth, and the numbers; not the names of fields.
create function searchable_text(metadata jsonb, variables jsonb, to_mobile_number text, from_mobile_number text)
returns text language sql immutable parallel safe
return coalesce(to_mobile_number, '') || e'\n' || coalesce(from_mobile_number, '') || e'\n' || coalesce((
  select string_agg(value #>> '{}', e'\n')
  from (
    select * from jsonb_path_query(metadata, 'strict $.**')
    union all select * from jsonb_path_query(variables, 'strict $.**')
  ) as given (value)
  where jsonb_typeof(value) in ('string', 'number', 'boolean')
), '');
create index conversations_search on conversations
  using gin (owner_id, searchable_text(metadata, variables, to_mobile_number, from_mobile_number) gin_trgm_ops);
