-- The tests of agents (docs/testing-agents.md).
create table agent_tests (
  owner_id text not null,
  agent_id text not null,
  test_id text not null,
  name text not null,
  -- Whether it must pass before a version is published.
  required boolean not null,
  -- As the API shows it, with every default filled in.
  definition json not null,
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (owner_id, agent_id, test_id)
);
create unique index agent_tests_by_name on agent_tests (owner_id, agent_id, name);
create trigger agent_tests_stored after insert on agent_tests referencing new table as added
  for each statement execute function count_stored_bytes('500 + octet_length(counted::text) - octet_length(updated_at::text)');
create trigger agent_tests_resized after update on agent_tests referencing old table as removed new table as added
  for each statement execute function count_stored_bytes('500 + octet_length(counted::text) - octet_length(updated_at::text)');
create trigger agent_tests_removed after delete on agent_tests referencing old table as removed
  for each statement execute function count_stored_bytes('500 + octet_length(counted::text) - octet_length(updated_at::text)');

-- Runs of tests, and replays of stored conversations, which are runs too.
create table test_runs (
  owner_id text not null,
  run_id text not null,
  agent_id text not null,
  is_replay boolean not null,
  agent_version integer not null,
  -- Of the version's content.
  version_hash text not null,
  status text not null check (status in ('QUEUED', 'RUNNING', 'PASSED', 'FAILED', 'CANCELLED', 'ERROR')),
  error text,
  -- In millionths of a US dollar.
  max_cost bigint,
  cost bigint not null default 0,
  unpriced_replies integer not null default 0,
  -- Grows with every change, for those who watch.
  revision integer not null default 0,
  created_by text not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  primary key (owner_id, run_id)
);
create index test_runs_newest on test_runs (owner_id, agent_id, is_replay, created_at desc, run_id desc);
create index test_runs_old on test_runs (created_at);

-- The conversations of runs: each attempt of a test, each conversation of a replay.
create table test_attempts (
  owner_id text not null,
  run_id text not null,
  -- The order in the run.
  place integer not null,
  -- Of a replay: the conversation's id.
  test_id text not null,
  attempt integer not null,
  name text not null,
  required boolean not null,
  -- The test as it was when the run began; with its first attempt only.
  definition json,
  status text not null check (status in ('QUEUED', 'RUNNING', 'PASSED', 'FAILED', 'CANCELLED', 'ERROR')),
  -- Which of the owner's lanes holds it while it runs (src/tests/runs/lanes.ts), and how often it was begun.
  lane integer,
  starts integer not null default 0,
  -- Names its last beginning and is its conversation's id, until that has ended and its cost is counted. An earlier beginning that is still
  -- at work in a frozen process changes nothing.
  token text,
  -- Whether its judge or simulated user was asked, and the cost of the answer is not counted yet.
  is_asking boolean not null default false,
  conversation_id text,
  -- As the API shows it.
  outcome json,
  started_at timestamptz,
  ended_at timestamptz,
  -- Of the definition: how many attempts of the test must pass, and the key of test_passes for the version; null for a replay.
  pass_at_least integer not null,
  pass_key text,
  primary key (owner_id, run_id, place),
  foreign key (owner_id, run_id) references test_runs on delete cascade
);
create index test_attempts_open on test_attempts (owner_id, run_id, place) where status in ('QUEUED', 'RUNNING');
create index test_attempts_held on test_attempts (owner_id, lane) where token is not null;
create trigger test_attempts_stored after insert on test_attempts referencing new table as added
  for each statement execute function count_stored_bytes('500 + coalesce(octet_length(definition::text), 0) + coalesce(octet_length(outcome::text), 0)');
create trigger test_attempts_resized after update on test_attempts referencing old table as removed new table as added
  for each statement execute function count_stored_bytes('500 + coalesce(octet_length(definition::text), 0) + coalesce(octet_length(outcome::text), 0)');
create trigger test_attempts_removed after delete on test_attempts referencing old table as removed
  for each statement execute function count_stored_bytes('500 + coalesce(octet_length(definition::text), 0) + coalesce(octet_length(outcome::text), 0)');

-- What opens the gate: passes by version and test (src/tests/score.ts).
create table test_passes (
  owner_id text not null,
  agent_id text not null,
  pass_key text not null,
  passed_at timestamptz not null,
  primary key (owner_id, agent_id, pass_key)
);
create index test_passes_old on test_passes (passed_at);
