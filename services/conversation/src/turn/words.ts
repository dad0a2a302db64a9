/**
 * Cuts a text that arrives in arbitrary pieces at word boundaries (docs/api-reference.md#streaming). White space belongs to the word
 * before it, so a word is sent when the next one begins, and the output concatenates to exactly the input. Scripts without spaces
 * between words, such as Chinese, are sent by the phrase, at their own punctuation.
 */
export interface WordCutter {
  /** What is complete now, possibly nothing or several words. */
  push(piece: string): string;
  /** What was still held back. */
  end(): string;
}

const BOUNDARY = /[\s、。，！？；：](?=[^\s、。，！？；：」』）】》”’])/g;

export function wordCutter(): WordCutter {
  let held = "";
  return {
    push(piece) {
      // Only the last held character can pair with the new piece: what is held has no boundary inside.
      const from = Math.max(0, held.length - 1);
      held += piece;
      BOUNDARY.lastIndex = from;
      let cut = -1;
      for (let match = BOUNDARY.exec(held); match; match = BOUNDARY.exec(held)) cut = match.index + 1;
      if (cut === -1) return "";
      const complete = held.slice(0, cut);
      held = held.slice(cut);
      return complete;
    },
    end() {
      const rest = held;
      held = "";
      return rest;
    },
  };
}
