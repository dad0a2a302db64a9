/** Runs of characters that are written without spaces between words. */
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** Shorter words rarely say what a question is about. */
const LETTERS_MIN = 4;
/** Endings that differ between the forms of a word. */
const ENDING_MAX = 3;

/** The words of a question to mark in what was found. */
export function wordsOf(query: string): string[] {
  const words = (query.toLowerCase().match(WORD) ?? []).flatMap((word) => (CJK.test(word) ? pairsOf(word) : [word]));
  const telling = words.filter((word) => [...word].length >= LETTERS_MIN || /\p{N}/u.test(word) || CJK.test(word));
  return [...new Set(telling.length > 0 ? telling : words)];
}

export interface Piece {
  text: string;
  isMarked: boolean;
}

/** A text in pieces, with the words marked, in any of their forms that begin alike. */
export function markedIn(text: string, words: readonly string[]): Piece[] {
  const pieces: Piece[] = [];
  const add = (piece: string, isMarked: boolean) => {
    const last = pieces.at(-1);
    if (piece === "") return;
    if (last?.isMarked === isMarked) last.text += piece;
    else pieces.push({ text: piece, isMarked });
  };
  let from = 0;
  for (const { 0: word, index } of text.matchAll(WORD)) {
    add(text.slice(from, index), false);
    for (const piece of CJK.test(word) ? byPairs(word, words) : [{ text: word, isMarked: isAmong(word, words) }])
      add(piece.text, piece.isMarked);
    from = index + word.length;
  }
  add(text.slice(from), false);
  return pieces;
}

function isAmong(word: string, words: readonly string[]): boolean {
  const lower = word.toLowerCase();
  return words.some((wanted) => wanted === lower || isFormOf(wanted, lower));
}

/** Whether two words differ only in their endings. */
function isFormOf(a: string, b: string): boolean {
  const shorter = Math.min(a.length, b.length);
  const stem = Math.max(LETTERS_MIN, shorter - 1);
  return shorter >= LETTERS_MIN && Math.abs(a.length - b.length) <= ENDING_MAX && a.slice(0, stem) === b.slice(0, stem);
}

/** Marks the characters of a run that are part of a wanted pair. */
function byPairs(run: string, words: readonly string[]): Piece[] {
  const marked = new Set<number>();
  for (const wanted of words)
    for (let at = run.indexOf(wanted); at >= 0 && wanted !== ""; at = run.indexOf(wanted, at + 1))
      for (let each = at; each < at + wanted.length; each++) marked.add(each);
  return [...run].map((text, at) => ({ text, isMarked: marked.has(at) }));
}

function pairsOf(run: string): string[] {
  const characters = [...run];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}
