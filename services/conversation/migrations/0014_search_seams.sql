-- A seam is where two words meet: two characters, white space, two characters. A text with white space is searched among the
-- conversations that have its seams, not among all that have its words (src/search/terms.ts). Parts from before are rebuilt by
-- the job that tidies the index.
alter table search_parts add column has_seams boolean not null default false;
alter table search_terms drop constraint search_terms_kind_check;
alter table search_terms add constraint search_terms_kind_check check (kind in ('gram', 'word', 'fact', 'seam')) not valid;
