import { containing } from "@parley/shared/db/like";
import { pairsOf, SEARCH_MAX, WORDS } from "./terms.ts";

/** Which terms tell where a text occurs: in no conversation that lacks any of them. */
export interface SearchPlan {
  grams: string[];
  /** LIKE patterns; of each, some word matches it. */
  words: string[];
  /** The conversations that have them contain the text; else they only may. */
  isExact: boolean;
}

/** Three letters or digits in a row, without which pg_trgm cannot tell words apart. */
const HAS_TRIGRAM = /[\p{L}\p{N}]{3}/u;
/** More tell hardly more. */
const GRAMS_MAX = 16;

/** @param text in lower case, not empty */
export function planSearch(text: string): SearchPlan {
  const length = [...text].length;
  if (length <= 2) return { grams: [text], words: [], isExact: true };
  if (length <= SEARCH_MAX && HAS_TRIGRAM.test(text) && !/\s/.test(text)) {
    return { grams: [], words: [containing(text)], isExact: true };
  }
  const grams: string[] = [];
  const words: string[] = [];
  for (const { 0: part, index } of text.matchAll(WORDS)) {
    const end = index + part.length;
    const cut = [...part].slice(0, SEARCH_MAX).join("");
    // With the white space around it, which tells a word's ends.
    if (!HAS_TRIGRAM.test(cut)) grams.push(...pairsOf(text.slice(Math.max(0, index - 1), end + 1)));
    else if (cut !== part) words.push(containing(cut));
    // What stands between white space in the text is a whole word, at the text's ends the end and the beginning of one.
    else words.push(containing(part).slice(index === 0 ? 0 : 1, end === text.length ? undefined : -1));
  }
  if (grams.length + words.length === 0) grams.push(...pairsOf(text));
  return { grams: [...new Set(grams)].slice(0, GRAMS_MAX), words, isExact: false };
}
