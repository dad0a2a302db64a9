import type { Database, Sql } from "@parley/shared/db/database";
import { listLanguages, listTotals, type RankedChunk, rankByWords, type Section } from "../store/rank-words.ts";
import { B, idfOf, K1 } from "./bm25.ts";
import { stemsOf } from "./stems.ts";
import { termOf } from "./terms.ts";
import { countWords } from "./words.ts";

interface LexicalQuery {
  ownerId: string;
  baseIds: readonly string[];
  query: string;
  /** The only language of the documents to be searched; all if not given. */
  language?: string | undefined;
  limit: number;
}

/** Words of a query that count: of those that the chunks have, the ones that tell most. */
const WORDS_MAX = 16;
/** Languages of a base that are searched: those with the most chunks. */
const LANGUAGES_MAX = 8;
/**
 * Chunks that are ranked. Words that many chunks have tell little: they count in the rank, but find no chunk that no rarer word of the
 * query finds. If every word of the query is so common, chunks with all of its rarest words are ranked.
 */
const CANDIDATES_MAX = 4_000;
/** Common words that a chunk must have. */
const COMMON_WORDS = 3;

/** The chunks that have words of the query, ranked by BM25, the best first. */
export async function searchWords(
  db: Database,
  { ownerId, baseIds, query, language, limit }: LexicalQuery,
): Promise<RankedChunk[]> {
  const asked = [...countWords(query)];
  if (asked.length === 0) return [];
  const all = await listLanguages(db, ownerId, baseIds);
  const sections = all
    .filter((section) => language === undefined || section.language === language)
    .slice(0, LANGUAGES_MAX * baseIds.length);
  if (sections.length === 0) return [];
  const weighed = await weighWords(db, ownerId, sections, asked);
  const words = weighed.filter((word) => word.chunks > 0).slice(0, WORDS_MAX);
  if (words.length === 0) return [];
  const chunks = sections.reduce((sum, section) => sum + section.chunks, 0);
  const meanLength = sections.reduce((sum, section) => sum + section.words, 0) / chunks;
  const most = weighed.slice(0, WORDS_MAX).reduce((sum, { weight }) => sum + weight, 0);
  const rank = (finding: readonly WeighedWord[], mustHaveAll = false, candidatesMax = CANDIDATES_MAX) =>
    rankByWords(db, {
      ownerId,
      limit,
      k1: K1,
      b: B,
      meanLength,
      mustHaveAll,
      candidatesMax,
      parts: sections.map(({ baseId, language: spoken }, at) => ({
        baseId,
        language: spoken,
        words: words.flatMap(({ terms, weight }) => {
          const term = terms[at];
          return term === undefined ? [] : [{ term, weight }];
        }),
        candidates: finding.flatMap(({ terms }) => terms[at] ?? []),
      })),
    });
  const rarest = words.toSorted((one, other) => one.chunks - other.chunks);
  if ((rarest[0]?.chunks ?? 0) <= CANDIDATES_MAX) return scored(await rank(fewest(rarest)), most);
  const shareMax = Math.ceil(CANDIDATES_MAX / sections.length);
  const ranked = await rank(rarest.slice(0, COMMON_WORDS), true, shareMax);
  if (ranked.length === limit) return scored(ranked, most);
  const known = new Set(ranked.map(({ chunkId }) => chunkId));
  const others = await rank(rarest.slice(0, 1), false, shareMax);
  return scored([...ranked, ...others.filter(({ chunkId }) => !known.has(chunkId))].slice(0, limit), most);
}

/** @param most the score of a chunk that consists of the query's words */
function scored(ranked: readonly RankedChunk[], most: number): RankedChunk[] {
  return ranked.map((chunk) => ({ ...chunk, score: Math.min(1, chunk.score / most) }));
}

interface WeighedWord {
  /** In how many chunks it is. */
  chunks: number;
  weight: number;
  /** The terms that stand for it in the sections, in their order; undefined where it says nothing. */
  terms: (number | undefined)[];
}

/** The words that say something, the ones that tell most first. */
async function weighWords(
  sql: Sql,
  ownerId: string,
  sections: readonly Section[],
  asked: readonly (readonly [string, number])[],
): Promise<WeighedWord[]> {
  const list = asked.map(([word]) => word);
  const languages = [...new Set(sections.map((section) => section.language))];
  const stems = new Map(
    await Promise.all(languages.map(async (language) => [language, await stemsOf(sql, language, list)] as const)),
  );
  const words = asked.map(([word, times]) => ({
    times,
    terms: sections.map(({ baseId, language }) => {
      const stem = stems.get(language)?.get(word);
      return stem === undefined ? undefined : termOf(baseId, language, stem);
    }),
  }));
  const totals = await listTotals(
    sql,
    ownerId,
    [...new Set(sections.map(({ baseId }) => baseId))],
    words.flatMap(({ terms }) => terms.filter((term) => term !== undefined)),
  );
  const chunks = sections.reduce((sum, section) => sum + section.chunks, 0);
  const weighed = words
    .filter(({ terms }) => terms.some((term) => term !== undefined))
    .map(({ times, terms }) => {
      const having = terms.reduce<number>((sum, term) => sum + (totals.get(term ?? -1) ?? 0), 0);
      return { terms, chunks: having, weight: times * idfOf(having, chunks) };
    });
  return weighed.sort((one, other) => other.weight - one.weight);
}

/** The rarest words, as far as they find few enough chunks. */
function fewest(rarest: readonly WeighedWord[]): WeighedWord[] {
  let found = 0;
  return rarest.filter((word) => {
    found += word.chunks;
    return found <= CANDIDATES_MAX;
  });
}
