/** Separates the messages and values of one conversation: a search matches within one of them, never across two. */
export const SEPARATOR = "\u001e";
/** Maximum length of a searched text, in characters. */
export const SEARCH_MAX = 200;

/** A word is the text between white space, in indexed and in searched texts alike. */
export const WORDS = /\S+/g;

/**
 * A longer word is stored in pieces of this many characters. They overlap, so that each possible search text lies
 * within one piece.
 */
const WORD_MAX = 512;
const WORD_STEP = WORD_MAX - SEARCH_MAX;

/** Receives a conversation's terms; may receive the same one several times. */
interface TermSink {
  gram(gram: string): void;
  word(word: string): void;
  seam(seam: string): void;
}

/** The number of different seams: few enough to take little room, and enough that a conversation rarely has one by chance. */
const SEAMS = 16_384;
/** Characters on each side of a seam's white space. */
const SEAM_SIDE = 2;

/** Characters that take about a millisecond. */
const STEP = 16_384;

/**
 * Collects every one and two adjacent characters, every word and every seam of a conversation's text in lower case. Yields
 * about once per millisecond, because a long text takes a second and the process has other work to do.
 */
export function* eachTerm(text: string, sink: TermSink): Generator<void> {
  for (const piece of text.split(SEPARATOR)) {
    yield* eachGram(piece, sink);
    let next = STEP;
    for (const { 0: word, index } of piece.matchAll(WORDS)) {
      eachPiece(word, sink);
      const seam = seamAt(piece, index);
      if (seam !== null) sink.seam(seam);
      if (index < next) continue;
      next = index + STEP;
      yield;
    }
  }
}

/** The pairs of adjacent characters of a text; the text itself when it is shorter. */
export function pairsOf(text: string): string[] {
  const characters = [...text];
  if (characters.length <= 2) return [text];
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

/** The seams of a text: a longer text that contains it has them too. */
export function seamsOf(text: string): string[] {
  return Array.from(text.matchAll(WORDS), ({ index }) => seamAt(text, index)).filter((seam) => seam !== null);
}

/** The seam before the word at `index`, as the number of its hash; null when a side is shorter. */
function seamAt(text: string, index: number): string | null {
  const start = index - 1 - SEAM_SIDE;
  const end = index + SEAM_SIDE;
  if (start < 0 || end > text.length) return null;
  // FNV-1a.
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return String((hash >>> 0) % SEAMS);
}

function* eachGram(text: string, sink: TermSink): Generator<void> {
  let before = -1;
  let next = STEP;
  for (let at = 0; at < text.length; ) {
    // By characters, so that surrogate pairs stay whole.
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
