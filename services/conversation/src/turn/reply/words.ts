/**
 * Cuts a text that arrives in arbitrary pieces at word boundaries (docs/api-reference.md#streaming). White space belongs to the word
 * before it, so a word is sent when the next one begins, and the output concatenates to exactly the input. Scripts without spaces
 * between words, such as Chinese, are sent by the phrase, at their own punctuation.
 */
export interface WordCutter {
  /** Adds a piece. @returns the words that are now complete, possibly none */
  push(piece: string): string;
  /** Returns the rest. */
  end(): string;
}

const BOUNDARY = /[\s、。，！？；：](?=[^\s、。，！？；：」』）】》”’])/g;

/** Characters looked at a time. */
const WINDOW = 256;

export function wordCutter(): WordCutter {
  let held = "";
  /** The last character of `held`, kept apart because `held` grows long while no word ends, and reading from it copies it. */
  let last = "";
  return {
    push(piece) {
      // The held text contains no boundary, so only its last character can form one with the new piece.
      const cut = lastBoundary(last + piece, 0) - last.length;
      if (piece !== "") last = piece.slice(-1);
      if (cut < 0) {
        held += piece;
        return "";
      }
      const complete = held + piece.slice(0, cut);
      held = piece.slice(cut);
      return complete;
    },
    end() {
      const rest = held;
      held = "";
      last = "";
      return rest;
    },
  };
}

/** Where the last word of a text begins; -1 without a boundary. Looked for from its end: a whole reply has a hundred thousand words. */
export function lastBoundary(text: string, from: number): number {
  for (let to = text.length; to > from; to -= WINDOW) {
    const start = Math.max(from, to - WINDOW);
    // One more, which may begin a word.
    const window = text.slice(start, to + 1);
    let cut = -1;
    BOUNDARY.lastIndex = 0;
    for (let match = BOUNDARY.exec(window); match; match = BOUNDARY.exec(window)) cut = start + match.index + 1;
    if (cut !== -1) return cut;
  }
  return -1;
}
