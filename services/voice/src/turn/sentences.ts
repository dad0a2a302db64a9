/**
 * Cuts a reply, which arrives in pieces, into parts that a voice can speak: whole sentences of at least SENTENCE_MIN characters. The
 * output concatenates to exactly the input, except that a caller may trim the parts.
 */
interface SentenceCutter {
  /** The sentences that are complete now. */
  push(piece: string): string[];
  /** What was still held back; empty if nothing. */
  end(): string;
}

/** Shorter sentences are spoken together with the next. */
export const SENTENCE_MIN = 20;
/** A text without any end of a sentence is cut before this, so that it can be heard before it is whole. */
const SENTENCE_MAX = 200;

const CLOSERS = String.raw`["'\p{Pe}\p{Pf}]*`;
/**
 * The end of a sentence and the white space behind it. (Intl.Segmenter's sentences end at abbreviations, and change while text arrives.)
 * A mark that Latin scripts share needs the space, because numbers and names have
 * it too; those of other scripts end a sentence anywhere. Thai and Lao have no mark: a space between letters ends what belongs together.
 */
const END = new RegExp(
  [
    String.raw`[.!?…]+${CLOSERS}\s+`,
    String.raw`(?![.!?]|(?<=\p{Nd})[．｡](?=\p{Nd}))[\p{STerm}།༎][\p{STerm}།༎…]*${CLOSERS}\s*`,
    String.raw`(?<=[\p{sc=Greek}\p{sc=Armenian}])[;:\u037E]${CLOSERS}\s+`,
    String.raw`(?<=[\p{sc=Thai}\p{sc=Lao}])[^\S\n]+(?=[\p{sc=Thai}\p{sc=Lao}])`,
    String.raw`\n+`,
  ].join("|"),
  "gu",
);
/** Where people pause within a sentence. */
const PAUSE = new RegExp(String.raw`[,;:]${CLOSERS}\s+|[،؛、，；：၊፣፤፥–—]\s*`, "gu");
const SPACE = /\s+/gu;
const WORDS = new Intl.Segmenter(undefined, { granularity: "word" });
/** A character that is a syllable, which Latin scripts write with about three. */
const SYLLABIC = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Ethiopic}]/u;
/** Titles and other words that are cut short, in the languages of calls. */
const SHORT_WORDS = [
  "mr|mrs|ms|dr|prof|st|jr|sr|vs|etc|approx|dept|est|inc|ltd|co|corp|no|nos|vol|fig|tel|ext|ave|blvd|rd|ph\\.d",
  "jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun",
  "hr|nr|bzw|ca|usw|inkl|evtl|ggf|vgl|str|mio|mrd|sra|srta|sres|dra|dña|uds?|avda?|núm|pág|aprox|exmo|exma",
  "mme|mlle|env|tél|sig|sig\\.ra|dott|dott\\.ssa|ing|avv|dhr|mevr|bijv|kl|t\\.ex|ul|godz|np",
  "ул|кв|стр|просп|обл|руб|коп|тыс|млн|млрд|डॉ|श्री|श्रीमती|प्रो|रु",
].join("|");
/** A full stop behind one of these, or behind initials, ends no sentence. A vowel sign makes a letter of India's scripts a word. */
const ABBREVIATIONS = new RegExp(
  String.raw`(?:^|[\s("'“])(?:${SHORT_WORDS}|(?:\p{L}\p{sc=Inherited}*\.)*\p{L}\p{sc=Inherited}*)\.$`,
  "iu",
);
/** "1. January", "3. Open the door": an ordinal or the number of a list item. */
const ORDINAL = /(?:^|\s)\p{Nd}{1,3}\.$/u;

export function sentenceCutter(): SentenceCutter {
  let held = "";

  function cut(): string | null {
    const long = tooLong(held);
    for (const { index, 0: mark } of held.matchAll(END)) {
      const end = index + mark.length;
      if (long !== null && end > long.length) break;
      // More white space or another mark may follow in the next piece.
      if (end === held.length) return null;
      if (isSpeakable(held.slice(0, end)) && !isWithin(held.slice(0, end).trimEnd(), held.slice(end))) return take(end);
    }
    return long === null ? null : take(pauseWithin(long));
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

function isSpeakable(part: string): boolean {
  return spokenLength(part.trim()) >= SENTENCE_MIN;
}

/** About how many characters of a Latin script take as long to say. */
export function spokenLength(text: string): number {
  let length = 0;
  for (const character of text) length += lengthOf(character);
  return length;
}

function lengthOf(character: string): number {
  return SYLLABIC.test(character) ? 3 : character.length;
}

/** The beginning of a text that has SENTENCE_MAX; null if the text is shorter. */
function tooLong(text: string): string | null {
  let length = 0;
  let at = 0;
  for (const character of text) {
    length += lengthOf(character);
    if (length > SENTENCE_MAX) return text.slice(0, at);
    at += character.length;
  }
  return null;
}

/** The best place to cut a text that goes on: where people pause, or between words. */
function pauseWithin(text: string): number {
  for (const pattern of [PAUSE, SPACE]) {
    const ends = [...text.matchAll(pattern)].map(({ index, 0: mark }) => index + mark.length);
    const last = ends.findLast((end) => end < text.length && isSpeakable(text.slice(0, end)));
    if (last !== undefined) return last;
  }
  const lastWord = [...WORDS.segment(text)].at(-1)?.index ?? 0;
  return isSpeakable(text.slice(0, lastWord)) ? lastWord : text.length;
}

/** Whether a full stop at the end of `before` belongs to an abbreviation, a date or a number. */
function isWithin(before: string, after: string): boolean {
  if (!before.endsWith(".") || before.endsWith("...")) return false;
  if (/^\p{Ll}/u.test(after)) return true;
  if (/(?:a|p)\.m\.$/i.test(before)) return !/^\p{Lu}/u.test(after);
  return ABBREVIATIONS.test(before) || ORDINAL.test(before) || (/\p{Nd}\.$/u.test(before) && /^\p{Nd}/u.test(after));
}
