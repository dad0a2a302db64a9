-- Numbers that an agent calls one after the other.
create table call_batches (
  owner_id text not null,
  batch_id text not null,
  status text not null default 'RUNNING' check (status in ('RUNNING', 'PAUSED', 'CANCELLED', 'ENDED')),
  -- What each of its calls is made with, and the carrier account of its number.
  settings jsonb not null,
  carrier_id text not null,
  provider text not null,
  total integer not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  primary key (owner_id, batch_id)
);
create index call_batches_newest on call_batches (owner_id, created_at desc, batch_id desc);

create index call_batches_ended on call_batches (ended_at);

create table batch_calls (
  owner_id text not null,
  batch_id text not null,
  number integer not null,
  to_mobile_number text not null,
  dynamic_variables jsonb not null,
  status text not null default 'PENDING' check (status in ('PENDING', 'CALLING', 'ENDED')),
  -- Calls that were made.
  attempts integer not null default 0,
  due_at timestamptz not null,
  -- Of the last call, or DO_NOT_CALL.
  outcome text,
  primary key (owner_id, batch_id, number),
  foreign key (owner_id, batch_id) references call_batches on delete cascade
);
create index batch_calls_pending on batch_calls (owner_id, batch_id, due_at, number) where status = 'PENDING';

alter table outbound_calls add column batch_id text, add column batch_number integer;
create index outbound_calls_batch on outbound_calls (owner_id, batch_id, created_at desc) where batch_id is not null;

create table do_not_call (
  owner_id text not null,
  mobile_number text not null,
  created_at timestamptz not null,
  primary key (owner_id, mobile_number)
);
