-- Leads a claim from owner to owner, past however many jobs each has (claim.ts).
create index jobs_in_turn on jobs (queue, owner_id, claimable_at);
