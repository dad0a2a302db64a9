-- The milliseconds of these replies together, so that few of them have an exact median; null for replies of before.
alter table figure_latencies add column ms bigint;
