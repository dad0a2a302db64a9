import type { Sql } from "@parley/shared/db/database";
import { listStems } from "../store/stems.ts";
import { dictionaryOf } from "../text/languages.ts";

/** The stems of words in a language, without the words that say nothing. */
export async function stemsOf(sql: Sql, language: string, words: readonly string[]): Promise<Map<string, string>> {
  const dictionary = dictionaryOf(language);
  return dictionary === null ? new Map(words.map((word) => [word, word])) : listStems(sql, dictionary, words);
}
