import type { Sql } from "@parley/shared/db/database";

/**
 * The stems of words by a dictionary of Postgres.
 * @param words in lower case
 * @returns without the words that say nothing, such as "the"
 */
export async function listStems(sql: Sql, dictionary: string, words: readonly string[]): Promise<Map<string, string>> {
  const rows = await sql<{ word: string; stem: string | null }[]>`
    select word, (ts_lexize(${dictionary}::text::regdictionary, word))[1] as stem from unnest(${words as string[]}::text[]) as word`;
  return new Map(rows.flatMap(({ word, stem }) => (stem ? [[word, stem] as const] : [])));
}
