const LATIN_MARKS = /(?<=\p{sc=Latin}\p{Mn}*)\p{Mn}+/gu;
const MASK = (1n << 53n) - 1n;

/**
 * The number that stands for a stem in the index, different for each base and language, so that a search reads the places of one base
 * only. Two stems of a base have the same one in a billion bases.
 */
export function termOf(baseId: string, language: string, stem: string): number {
  return Number(Bun.hash.xxHash64(`${baseId} ${language} ${withoutAccents(stem)}`) & MASK);
}

/** People leave out accents when they type. Marks of other scripts are vowels. */
function withoutAccents(stem: string): string {
  return stem.normalize("NFD").replace(LATIN_MARKS, "").normalize("NFC");
}
