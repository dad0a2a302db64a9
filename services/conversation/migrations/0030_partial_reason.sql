-- Why the model of a partial reply cut it short, in its provider's words; null if it did not, as for every reply from before.
alter table messages add column partial_reason text;
