create table bases (
  owner_id text not null,
  base_id text not null,
  name text not null,
  description text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The sum of its documents' hashes, so that a turn reads no document to know whether they have changed.
  documents_hash numeric not null default 0,
  primary key (owner_id, base_id)
);
-- Tells "another owner's" (403) from "none" (404).
create index bases_by_id on bases (base_id);
create index bases_newest on bases (owner_id, created_at desc, base_id desc);

create table documents (
  owner_id text not null,
  document_id text not null,
  base_id text not null,
  name text not null,
  status text not null check (status in ('PENDING', 'READY', 'FAILED')),
  -- Why its newest content failed; a sentence.
  error text,
  -- The key in `texts` of the text that serves; null before the first.
  text_id text,
  -- Of that text.
  media_type text,
  language text,
  bytes bigint not null default 0,
  characters integer not null default 0,
  chunk_count integer not null default 0,
  embedded_chunks integer not null default 0,
  -- What its owner said; null to detect it.
  given_language text,
  -- Of the bytes that its text is of, as they were sent or fetched. Before the first text, of those that wait or failed.
  sha256 bytea,
  -- Of a page.
  url text,
  refresh_hours integer check (refresh_hours between 1 and 720),
  etag text,
  refreshed_at timestamptz,
  refresh_due_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Of the text that serves; null before the first.
  text_hash bigint,
  -- Of all that a model is told of it: null before the first text.
  served_hash bigint generated always as (hashtextextended(name, text_hash)) stored,
  primary key (owner_id, document_id)
);
create index documents_newest on documents (owner_id, base_id, created_at desc, document_id desc);
create index documents_by_hash on documents (owner_id, base_id, sha256);
create index documents_by_url on documents (owner_id, base_id, url) where url is not null;
create index documents_refresh_due on documents (refresh_due_at) where refresh_due_at is not null;

-- What waits to become a document's text: bytes that were sent, or a page that is to be fetched. A newer one replaces it.
create table contents (
  owner_id text not null,
  document_id text not null,
  content_id text not null,
  -- Of bytes that were sent; null for a page.
  media_type text,
  sha256 bytea,
  bytes bigint not null default 0,
  -- Runs that began, so that content that ends its process again and again fails.
  attempts integer not null default 0,
  created_at timestamptz not null,
  primary key (owner_id, document_id)
);
create unique index contents_by_id on contents (owner_id, content_id);
create index contents_oldest on contents (owner_id, created_at, document_id);

-- Bytes that were sent, until a text is made of them.
create table content_parts (
  owner_id text not null,
  content_id text not null,
  part integer not null,
  data bytea not null,
  created_at timestamptz not null,
  primary key (owner_id, content_id, part)
);
-- Most files are compressed already.
alter table content_parts alter column data set storage external;
create index content_parts_age on content_parts (created_at);

-- The texts of documents, in parts so that none is read as a whole.
create table texts (
  owner_id text not null,
  text_id text not null,
  part integer not null,
  text text not null,
  primary key (owner_id, text_id, part)
);

-- Names and descriptions, and 500 bytes for each base and document; texts, and bytes that wait. Of chunks and their index, which are made
-- of the texts, 200 bytes for each chunk, so that texts of many short sections take no more than others.
create trigger bases_stored after insert on bases referencing new table as added
  for each statement execute function count_stored_bytes('500 + octet_length(name) + octet_length(description)');
create trigger bases_resized after update on bases referencing old table as removed new table as added
  for each statement execute function count_stored_bytes('500 + octet_length(name) + octet_length(description)');
create trigger bases_removed after delete on bases referencing old table as removed
  for each statement execute function count_stored_bytes('500 + octet_length(name) + octet_length(description)');
create trigger documents_stored after insert on documents referencing new table as added
  for each statement execute function count_stored_bytes('500 + octet_length(name) + bytes + 200 * chunk_count');
create trigger documents_resized after update on documents referencing old table as removed new table as added
  for each statement execute function count_stored_bytes('500 + octet_length(name) + bytes + 200 * chunk_count');
create trigger documents_removed after delete on documents referencing old table as removed
  for each statement execute function count_stored_bytes('500 + octet_length(name) + bytes + 200 * chunk_count');
create trigger content_parts_stored after insert on content_parts referencing new table as added
  for each statement execute function count_stored_bytes('octet_length(data)');
create trigger content_parts_removed after delete on content_parts referencing old table as removed
  for each statement execute function count_stored_bytes('octet_length(data)');

-- A sum knows no order, and each change adds to it, whatever others change. Unlike an exclusive or, it differs from that of no document
-- when two are the same.
create function note_served_document() returns trigger language plpgsql set search_path from current as $$
declare
  change numeric := coalesce(new.served_hash, 0)::numeric - coalesce(old.served_hash, 0);
begin
  if change <> 0 then
    update bases set documents_hash = documents_hash + change
    where owner_id = coalesce(new.owner_id, old.owner_id) and base_id = coalesce(new.base_id, old.base_id);
  end if;
  return null;
end $$;
create trigger documents_served after insert or delete or update of name, text_hash on documents
  for each row execute function note_served_document();

-- Chunks and their index.
create table chunks (
  owner_id text not null,
  chunk_id text not null,
  base_id text not null,
  document_id text not null,
  position integer not null,
  -- The titles that it stands below.
  heading text not null,
  text text not null,
  primary key (owner_id, chunk_id)
);
create index chunks_document on chunks (owner_id, document_id, position);
create index chunks_base on chunks (owner_id, base_id, chunk_id);

-- The words of chunks, apart from the texts, so that a search by words reads little.
create table chunk_words (
  owner_id text not null,
  chunk_id text not null,
  base_id text not null,
  document_id text not null,
  language text not null,
  -- Words, without those that say nothing.
  length integer not null,
  -- In order; each stands for a stem, and is different for each base and language.
  terms bigint[] not null,
  -- How often each occurs: a byte each, in the same order.
  counts bytea not null,
  primary key (owner_id, chunk_id)
) with (toast_tuple_target = 8160);
-- A search would read what is not sorted into the index yet.
create index chunk_words_terms on chunk_words using gin (terms) with (fastupdate = off);

-- In how many chunks of a base a word is.
create table base_words (
  owner_id text not null,
  base_id text not null,
  term bigint not null,
  chunks integer not null,
  primary key (owner_id, base_id, term)
);

-- The languages of a base's documents.
create table base_languages (
  owner_id text not null,
  base_id text not null,
  language text not null,
  chunks integer not null,
  words bigint not null,
  primary key (owner_id, base_id, language)
);

-- What the chunks mean, by one or two models: after a change of model, the old vectors serve until the new ones are all there.
create table embeddings (
  owner_id text not null,
  chunk_id text not null,
  model text not null,
  base_id text not null,
  document_id text not null,
  dimensions integer not null,
  embedding real[] not null,
  primary key (owner_id, chunk_id, model)
);
alter table embeddings alter column embedding set storage external;
create index embeddings_base on embeddings (owner_id, base_id, model, dimensions, chunk_id);
create index embeddings_document on embeddings (owner_id, document_id);

-- The vectors of a base that serve.
create table base_vectors (
  owner_id text not null,
  base_id text not null,
  -- Whose they are; null while a base has none.
  model text,
  -- Grows with each change of them, so that processes that remember them see it.
  version bigint not null default 0,
  -- Whether every chunk had one when the last run ended.
  is_complete boolean not null,
  primary key (owner_id, base_id)
);
