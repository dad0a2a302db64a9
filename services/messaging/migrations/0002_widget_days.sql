-- How many messages visitors have sent to an owner's agents on a UTC day: what anybody may send is the owner's cost.
create table widget_days (
  owner_id text not null,
  day date not null,
  messages integer not null,
  primary key (owner_id, day)
);
create index widget_days_day on widget_days (day);
