-- Calls in which a carrier says a sentence to whoever answers, such as the code that proves whose number it is.
create table spoken_calls (
  -- Whose carrier account makes the call: the operator's.
  owner_id text not null,
  call_id text not null,
  carrier_id text not null,
  sentence text not null,
  created_at timestamptz not null,
  primary key (owner_id, call_id)
);
-- A callback has the call's id alone; with owner_id behind it the index can be unique and distributed by owner.
create unique index spoken_calls_id on spoken_calls (call_id, owner_id);
create index spoken_calls_age on spoken_calls (created_at);
