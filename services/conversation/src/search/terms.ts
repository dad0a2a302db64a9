/** Between the messages and values of one conversation: what is looked for stands in one of them, never across. */
export const SEPARATOR = "\u001e";
/** Maximum length of a searched text, in characters. */
export const SEARCH_MAX = 200;

/** What stands between white space: the same in what is kept and in what is searched for. */
export const WORDS = /\S+/g;

/** A longer word is kept in pieces of so many characters, which overlap so far that each holds all that may be searched for. */
const WORD_MAX = 512;
const WORD_STEP = WORD_MAX - SEARCH_MAX;

/** Where a conversation's terms go: the same one any number of times. */
export interface TermSink {
  gram(gram: string): void;
  word(word: string): void;
}

/** Characters that take about a millisecond. */
const STEP = 16_384;

/**
 * Every one or two characters in a row, and every word between white space, of a conversation's text in lower case. Yields about
 * every millisecond: a long text takes a second, and whoever reads it has other work to do meanwhile.
 */
export function* eachTerm(text: string, sink: TermSink): Generator<void> {
  for (const piece of text.split(SEPARATOR)) {
    yield* eachGram(piece, sink);
    let next = STEP;
    for (const { 0: word, index } of piece.matchAll(WORDS)) {
      eachPiece(word, sink);
      if (index < next) continue;
      next = index + STEP;
      yield;
    }
  }
}

/** The pairs of characters in a row of a text; the text itself when it is shorter. */
export function pairsOf(text: string): string[] {
  const characters = [...text];
  if (characters.length <= 2) return [text];
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

function* eachGram(text: string, sink: TermSink): Generator<void> {
  let before = -1;
  let next = STEP;
  for (let at = 0; at < text.length; ) {
    // Characters, not halves of surrogate pairs.
    const end = at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
    sink.gram(text.slice(at, end));
    if (before >= 0) sink.gram(text.slice(before, end));
    before = at;
    at = end;
    if (at < next) continue;
    next = at + STEP;
    yield;
  }
}

function eachPiece(word: string, sink: TermSink): void {
  const characters = word.length <= WORD_MAX ? [word] : [...word];
  for (let at = 0; at === 0 || at + SEARCH_MAX < characters.length; at += WORD_STEP) {
    sink.word(characters.slice(at, at + WORD_MAX).join(""));
  }
}
