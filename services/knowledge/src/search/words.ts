const WORD = /[\p{L}\p{M}\p{N}]+(?:(?<=\p{N})[.,:]\p{N}+)*/gu;
/** Scripts that write no spaces between words. */
const UNSPACED =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー]+/gu;
/** No language has longer words. */
const WORD_CHARACTERS_MAX = 64;

/**
 * The words of a text in lower case, before they are stemmed. A number is one word, with its separators. Text of scripts without spaces
 * gives each character and each pair of neighbours.
 */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const [word] of text.normalize("NFKC").toLowerCase().matchAll(WORD)) {
    let end = 0;
    for (const { 0: run, index } of word.matchAll(UNSPACED)) {
      if (index > end) words.push(word.slice(end, index));
      words.push(...pairsOf(run));
      end = index + run.length;
    }
    if (end < word.length && word.length - end <= WORD_CHARACTERS_MAX) words.push(end === 0 ? word : word.slice(end));
  }
  return words;
}

function pairsOf(run: string): string[] {
  const characters = [...run];
  return characters.flatMap((character, at) => {
    const next = characters[at + 1];
    return next === undefined ? [character] : [character, character + next];
  });
}

/** How often each word of a text occurs. */
export function countWords(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
