-- Ended calls that still have what they were made with, which nobody reads once their conversations have it.
create index outbound_calls_given on outbound_calls (ended_at)
  where status = 'ENDED' and (dynamic_variables <> '{}' or metadata <> '{}');
