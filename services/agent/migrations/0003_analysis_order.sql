-- The fields of an analysis are asked for and shown in the order they were written in, which jsonb does not keep.
alter table agents alter column analysis type json;
