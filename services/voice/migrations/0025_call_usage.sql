-- Calls and seconds of an owner's agents to numbers outside, by UTC day.
create table call_usage (
  owner_id text not null,
  day date not null,
  calls integer not null,
  seconds double precision not null,
  primary key (owner_id, day)
);
create index call_usage_age on call_usage (day);
