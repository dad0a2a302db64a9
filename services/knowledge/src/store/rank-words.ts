import type { Database, Fragment, Sql } from "@parley/shared/db/database";

/** The chunks of a base in one language. */
export interface Section {
  baseId: string;
  language: string;
  chunks: number;
  /** Words of all chunks. */
  words: number;
}

export interface RankedChunk {
  chunkId: string;
  score: number;
}

/** The sections of bases, the largest first. */
export function listLanguages(sql: Sql, ownerId: string, baseIds: readonly string[]): Promise<Section[]> {
  return sql<Section[]>`
    select base_id, language, chunks, words from base_languages
    where owner_id = ${ownerId} and base_id = any(${baseIds as string[]}::text[]) order by chunks desc, base_id, language`;
}

/** In how many chunks each term is. */
export async function listTotals(
  sql: Sql,
  ownerId: string,
  baseIds: readonly string[],
  terms: readonly number[],
): Promise<Map<number, number>> {
  const rows = await sql<{ term: number; chunks: number }[]>`
    select term, chunks from base_words
    where owner_id = ${ownerId} and base_id = any(${baseIds as string[]}::text[]) and term = any(${terms as number[]}::bigint[])`;
  return new Map(rows.map(({ term, chunks }) => [term, chunks]));
}

interface Ranking {
  ownerId: string;
  parts: readonly {
    baseId: string;
    language: string;
    words: readonly { term: number; weight: number }[];
    /** Only chunks with one of these terms are ranked, or with all of them. */
    candidates: readonly number[];
  }[];
  mustHaveAll: boolean;
  /** Chunks of each part that are ranked. */
  candidatesMax: number;
  /** Of BM25. */
  k1: number;
  b: number;
  meanLength: number;
  limit: number;
}

/**
 * Ranks chunks by the sum of the weights of their words, each times how much of the chunk the word is (BM25), between 0 and 1. Terms
 * are different for each base, so that they alone choose the candidates: with the owner beside them, the planner would read all of the
 * owner's primary key too.
 */
export async function rankByWords(db: Database, ranking: Ranking): Promise<RankedChunk[]> {
  return db.begin(async (tx) => {
    // For common words the planner would read the table from its beginning, past the chunks of other owners.
    await tx`set local enable_seqscan = off`;
    return ranked(tx, ranking);
  });
}

async function ranked(sql: Sql, ranking: Ranking): Promise<RankedChunk[]> {
  const { ownerId, parts, mustHaveAll, candidatesMax, k1, b, meanLength, limit } = ranking;
  const having = mustHaveAll ? sql`@>` : sql`&&`;
  const found = parts.filter(({ candidates, words }) => candidates.length > 0 && words.length > 0);
  if (found.length === 0) return [];
  const selects = found.map(({ baseId, language, words, candidates }) => {
    const score = joined(
      sql,
      words.map(({ term, weight }) => weightOf(sql, term, weight)),
      sql` + `,
    );
    return sql`
      select chunk_id, ${score} as score
      from (
        select owner_id, base_id, language, chunk_id, terms, counts,
          ${k1 * (1 - b)}::float8 + ${(k1 * b) / meanLength}::float8 * length as norm
        from chunk_words where terms ${having} ${candidates as number[]}::bigint[] limit ${candidatesMax}
      ) as candidates
      where owner_id = ${ownerId} and base_id = ${baseId} and language = ${language}`;
  });
  return sql<RankedChunk[]>`
    select chunk_id, score from (${joined(sql, selects, sql` union all `)}) as ranked order by score desc, chunk_id limit ${limit}`;
}

/**
 * `weight × count / (count + norm)`, written so that the count stands in it once. Terms are in order, so the place of one is found by
 * halves.
 */
function weightOf(sql: Sql, term: number, weight: number): Fragment {
  const place = sql`width_bucket(${term}::bigint, terms)`;
  const part = sql`1 - norm / (norm + get_byte(counts, ${place} - 1))`;
  return sql`case when terms[${place}] = ${term}::bigint then ${weight}::float8 * (${part}) else 0 end`;
}

function joined(sql: Sql, parts: readonly Fragment[], between: Fragment): Fragment {
  return parts.slice(1).reduce((all, part) => sql`${all}${between}${part}`, parts[0] as Fragment);
}
