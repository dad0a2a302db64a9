import { containing } from "@parley/shared/db/like";
import { pairsOf, SEARCH_MAX, seamsOf, WORDS } from "./text-terms.ts";

/** The terms that tell where a text occurs: only conversations that have all of them can contain it. */
export interface SearchPlan {
  grams: string[];
  /** LIKE patterns; for each, some word of the conversation must match. */
  words: string[];
  seams: string[];
  /** Whether every conversation with these terms contains the text; otherwise it only may. */
  isExact: boolean;
}

/** Three letters or digits in a row; pg_trgm cannot distinguish words without them. */
const HAS_TRIGRAM = /[\p{L}\p{N}]{3}/u;
/** More patterns hardly narrow the result. */
const GRAMS_MAX = 16;
const SEAMS_MAX = 16;

/** @param text in lower case, not empty */
export function planSearch(text: string): SearchPlan {
  const length = [...text].length;
  if (length <= 2) return { grams: [text], words: [], seams: [], isExact: true };
  if (length <= SEARCH_MAX && HAS_TRIGRAM.test(text) && !/\s/.test(text)) {
    return { grams: [], words: [containing(text)], seams: [], isExact: true };
  }
  const grams: string[] = [];
  const words: string[] = [];
  for (const { 0: part, index } of text.matchAll(WORDS)) {
    const end = index + part.length;
    const cut = [...part].slice(0, SEARCH_MAX).join("");
    // With the white space around it, which marks the ends of the word.
    if (!HAS_TRIGRAM.test(cut)) grams.push(...pairsOf(text.slice(Math.max(0, index - 1), end + 1)));
    else if (cut !== part) words.push(containing(cut));
    // Between white space, the text has whole words; its first and last words may be the end and the beginning of
    // longer ones.
    else words.push(containing(part).slice(index === 0 ? 0 : 1, end === text.length ? undefined : -1));
  }
  if (grams.length + words.length === 0) grams.push(...pairsOf(text));
  const seams = [...new Set(seamsOf(text))].slice(0, SEAMS_MAX);
  return { grams: [...new Set(grams)].slice(0, GRAMS_MAX), words, seams, isExact: false };
}
