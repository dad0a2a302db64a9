-- What the operator allows an owner's agents to call; null where the installation's default applies.
create table call_policies (
  owner_id text primary key references owners,
  -- ISO 3166-1 codes; null: the countries of the owner's numbers.
  countries text[],
  calls_per_day integer,
  minutes_per_day integer
);
