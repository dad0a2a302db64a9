import type { Sql } from "@parley/shared/db/database";
import type { DocumentKey } from "./documents.ts";

export interface ChunkWords {
  chunkId: string;
  /** In order. */
  terms: readonly number[];
  /** How often each occurs, 1 to 255. */
  counts: readonly number[];
  /** Words, without those that say nothing. */
  length: number;
}

/** What chunks add to their base's totals, or take from them. */
export interface Totals {
  /** Chunks by term. */
  terms: ReadonlyMap<number, number>;
  languages: ReadonlyMap<string, { chunks: number; words: number }>;
}

/** Rows that one statement writes. */
const ROWS = 5_000;

export async function insertChunkWords(
  tx: Sql,
  { ownerId, baseId, documentId }: DocumentKey,
  language: string,
  chunks: readonly ChunkWords[],
): Promise<void> {
  await tx`
    insert into chunk_words (owner_id, chunk_id, base_id, document_id, language, length, terms, counts)
    select ${ownerId}, chunk_id, ${baseId}, ${documentId}, ${language}, length, terms::bigint[], decode(counts, 'hex')
    from unnest(
      ${chunks.map(({ chunkId }) => chunkId)}::text[],
      ${chunks.map(({ length }) => length)}::integer[],
      ${chunks.map(({ terms }) => `{${terms.join(",")}}`)}::text[],
      ${chunks.map(({ counts }) => Buffer.from(counts).toString("hex"))}::text[]
    ) as added (chunk_id, length, terms, counts)`;
}

/** What their base's totals lose with these chunks, as negative numbers. */
export async function listLosses(tx: Sql, ownerId: string, chunkIds: readonly string[]): Promise<Totals> {
  const ids = chunkIds as string[];
  const terms = await tx<{ term: number; chunks: number }[]>`
    select term, -count(*) as chunks from chunk_words, unnest(terms) as term
    where owner_id = ${ownerId} and chunk_id = any(${ids}::text[]) group by term`;
  const languages = await tx<{ language: string; chunks: number; words: number }[]>`
    select language, -count(*) as chunks, -sum(length) as words from chunk_words
    where owner_id = ${ownerId} and chunk_id = any(${ids}::text[]) group by language`;
  return {
    terms: new Map(terms.map(({ term, chunks }) => [term, chunks])),
    languages: new Map(languages.map(({ language, chunks, words }) => [language, { chunks, words }])),
  };
}

/** Changes a base's totals, in the order of their keys, so that two transactions never wait for each other. */
export async function changeTotals(
  tx: Sql,
  { ownerId, baseId }: { ownerId: string; baseId: string },
  changes: readonly Totals[],
): Promise<void> {
  const terms = sumOfTerms(changes);
  for (let at = 0; at < terms.length; at += ROWS) {
    const part = terms.slice(at, at + ROWS);
    const ids = part.map(([term]) => term);
    await tx`
      insert into base_words (owner_id, base_id, term, chunks)
      select ${ownerId}, ${baseId}, term, chunks
      from unnest(${ids}::bigint[], ${part.map(([, chunks]) => chunks)}::integer[]) as changed (term, chunks) order by term
      on conflict (owner_id, base_id, term) do update set chunks = base_words.chunks + excluded.chunks`;
    if (part.some(([, chunks]) => chunks < 0)) {
      await tx`
        delete from base_words
        where owner_id = ${ownerId} and base_id = ${baseId} and term = any(${ids}::bigint[]) and chunks <= 0`;
    }
  }
  const languages = sumOfLanguages(changes);
  await tx`
    insert into base_languages (owner_id, base_id, language, chunks, words)
    select ${ownerId}, ${baseId}, language, chunks, words
    from unnest(
      ${languages.map(([language]) => language)}::text[],
      ${languages.map(([, { chunks }]) => chunks)}::integer[],
      ${languages.map(([, { words }]) => words)}::bigint[]
    ) as changed (language, chunks, words) order by language
    on conflict (owner_id, base_id, language)
      do update set chunks = base_languages.chunks + excluded.chunks, words = base_languages.words + excluded.words`;
  await tx`delete from base_languages where owner_id = ${ownerId} and base_id = ${baseId} and chunks <= 0`;
}

/** Deletes a part of what a base's search keeps beside its chunks. @returns the number of rows deleted */
export async function deleteTotals(tx: Sql, { ownerId, baseId }: { ownerId: string; baseId: string }): Promise<number> {
  const words = await tx`
    delete from base_words where ctid = any(array(
      select ctid from base_words where owner_id = ${ownerId} and base_id = ${baseId} order by term limit ${ROWS} for update))`;
  const languages = await tx`delete from base_languages where owner_id = ${ownerId} and base_id = ${baseId}`;
  const vectors = await tx`delete from base_vectors where owner_id = ${ownerId} and base_id = ${baseId}`;
  return words.count + languages.count + vectors.count;
}

function sumOfTerms(changes: readonly Totals[]): [number, number][] {
  const sums = new Map<number, number>();
  for (const { terms } of changes) for (const [term, chunks] of terms) sums.set(term, (sums.get(term) ?? 0) + chunks);
  return [...sums].filter(([, chunks]) => chunks !== 0).sort(([one], [other]) => one - other);
}

function sumOfLanguages(changes: readonly Totals[]): [string, { chunks: number; words: number }][] {
  const sums = new Map<string, { chunks: number; words: number }>();
  for (const { languages } of changes) {
    for (const [language, { chunks, words }] of languages) {
      const sum = sums.get(language) ?? { chunks: 0, words: 0 };
      sums.set(language, { chunks: sum.chunks + chunks, words: sum.words + words });
    }
  }
  return [...sums].sort(([one], [other]) => (one < other ? -1 : 1));
}
