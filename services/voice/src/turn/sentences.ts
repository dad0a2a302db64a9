/**
 * Cuts a reply, which arrives in pieces, into parts that a voice can speak: whole sentences of at least SENTENCE_MIN characters. The
 * output concatenates to exactly the input, except that a caller may trim the parts.
 */
export interface SentenceCutter {
  /** The sentences that are complete now. */
  push(piece: string): string[];
  /** What was still held back; empty if nothing. */
  end(): string;
}

export const SENTENCE_MIN = 20;
/** A text without any end of a sentence is cut at a space before this. */
const SENTENCE_MAX = 400;

/** The end of a sentence and the white space behind it; scripts without spaces end theirs with their own marks. */
const END = /[.!?…]+["'”’)\]]*\s+|[。！？]+["'”’」』）]*\s*|\n+/gu;
/** A full stop behind one of these ends no sentence. */
const ABBREVIATIONS =
  /(?:^|[\s("'“])(?:mr|mrs|ms|dr|prof|st|jr|sr|vs|etc|e\.g|i\.e|approx|dept|est|inc|ltd|co|corp|no|nos|vol|fig|tel|ext|ave|blvd|rd|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|a\.m|p\.m|u\.s|u\.k|ph\.d|[a-z])\.$/i;
/** "1. January", "3. Open the door": an ordinal or the number of a list item. */
const ORDINAL = /(?:^|\s)\d{1,3}\.$/;

export function sentenceCutter(): SentenceCutter {
  let held = "";

  function cut(): string | null {
    for (const { index, 0: mark } of held.matchAll(END)) {
      const end = index + mark.length;
      // More white space or another mark may follow in the next piece.
      if (end === held.length) return null;
      const sentence = held.slice(0, end);
      if (sentence.trim().length >= SENTENCE_MIN && !isWithin(sentence.trimEnd(), held.slice(end))) return take(end);
    }
    if (held.length <= SENTENCE_MAX) return null;
    const space = held.lastIndexOf(" ", SENTENCE_MAX);
    return take(space > 0 ? space + 1 : SENTENCE_MAX);
  }

  function take(length: number): string {
    const sentence = held.slice(0, length);
    held = held.slice(length);
    return sentence;
  }

  return {
    push(piece) {
      held += piece;
      const sentences: string[] = [];
      for (let sentence = cut(); sentence !== null; sentence = cut()) sentences.push(sentence);
      return sentences;
    },
    end: () => take(held.length),
  };
}

/** Whether a full stop at the end of `before` belongs to an abbreviation, a date or a number. */
function isWithin(before: string, after: string): boolean {
  if (!before.endsWith(".") || before.endsWith("...")) return false;
  if (/^\p{Ll}/u.test(after)) return true;
  if (/(?:a|p)\.m\.$/i.test(before)) return !/^\p{Lu}/u.test(after);
  return ABBREVIATIONS.test(before) || ORDINAL.test(before) || (/\d\.$/.test(before) && /^\d/.test(after));
}
