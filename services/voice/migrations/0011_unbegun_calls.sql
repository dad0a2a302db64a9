-- Its process is gone before its conversation began, which may still happen: somebody looks again, and it takes no place of its owner.
alter table calls add column is_unbegun boolean not null default false;
