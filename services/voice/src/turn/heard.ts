/** The text that a voice was given and the audio that came of it, so that a playback position tells which words were heard. */
export interface Spoken {
  /** The text for the voice, in order. */
  text: string;
  /** Milliseconds of audio that arrived. */
  audioMs: number;
  /** All audio has arrived. */
  isWhole: boolean;
  /** Positions in the text and the moments at which the audio has reached them, in order; empty if the provider reports none. */
  timings: readonly Timing[];
}

export interface Timing {
  characters: number;
  endMs: number;
}

/** The assumed speed of a voice about which nothing else is known. */
const SYLLABLES_PER_MS = 3.8 / 1_000;

/**
 * Returns the beginning of the text that has been heard when so much of its audio was: whole words only, so a word that was cut off
 * is not among them.
 */
export function heardText(spoken: Spoken, heardMs: number): string {
  if (heardMs <= 0) return "";
  if (spoken.isWhole && heardMs >= spoken.audioMs) return spoken.text;
  const characters = spoken.timings.length > 0 ? byTimings(spoken, heardMs) : bySyllables(spoken, heardMs);
  return spoken.text.slice(0, characters);
}

function byTimings({ text, timings, audioMs, isWhole }: Spoken, heardMs: number): number {
  const said = timings.findLast(({ endMs }) => endMs <= heardMs);
  const from = said?.characters ?? 0;
  const next = timings.find(({ endMs }) => endMs > heardMs);
  // Behind the last timing there is audio of words that are not timed yet.
  const until = next ?? { characters: text.length, endMs: isWhole ? audioMs : Number.POSITIVE_INFINITY };
  const startMs = said?.endMs ?? 0;
  const part = text.slice(from, until.characters);
  const totalMs = until.endMs - startMs;
  const rate = Number.isFinite(totalMs) && totalMs > 0 ? syllablesOf(part) / totalMs : SYLLABLES_PER_MS;
  return from + wordsWithin(part, (heardMs - startMs) * rate);
}

function bySyllables({ text, audioMs, isWhole }: Spoken, heardMs: number): number {
  const rate = isWhole && audioMs > 0 ? syllablesOf(text) / audioMs : SYLLABLES_PER_MS;
  return wordsWithin(text, heardMs * rate);
}

/** Characters of the words that have no more than this many syllables together. */
function wordsWithin(text: string, syllables: number): number {
  let left = syllables;
  let end = 0;
  for (const { 0: word, index } of text.matchAll(WORD)) {
    left -= syllablesOf(word);
    if (left < 0) break;
    end = index + word.length;
  }
  return end;
}

/** Characters of scripts without spaces between words; and those that are a syllable each. */
const UNSPACED = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Tibetan}`;
const WHOLE = new RegExp(String.raw`(?!\p{M})[${UNSPACED}\p{sc=Hangul}\p{sc=Ethiopic}]`, "gu");
/** A word with its punctuation; in scripts without spaces, a character. */
const WORD = new RegExp(String.raw`[${UNSPACED}][^\p{L}\p{N}\s]*|[^\s${UNSPACED}]+`, "gu");
const VOWELS = /[aeiouyà-öø-ÿœæ]+/giu;
/** A final e is silent: "make" has one syllable. */
const SILENT_E = /[aeiouy][^aeiouy\s]+e\W*$/i;
const SYLLABLES_PER_DIGIT = 1.5;
const LETTERS_PER_SYLLABLE = 2.5;

/** Estimates syllables: runs of vowels in Latin scripts, characters in scripts without spaces, letters elsewhere. */
export function syllablesOf(text: string): number {
  let count = 0;
  for (const [word] of text.matchAll(WORD)) count += syllablesOfWord(word);
  return count;
}

function syllablesOfWord(word: string): number {
  const number = (pattern: RegExp) => word.match(pattern)?.length ?? 0;
  const digits = number(/\p{N}/gu);
  const letters = number(/\p{L}/gu);
  if (digits + letters === 0) return 0;
  const known = number(VOWELS) + number(WHOLE) - (SILENT_E.test(word) ? 1 : 0);
  const spelled = known > 0 ? known : Math.ceil(letters / LETTERS_PER_SYLLABLE);
  return Math.max(1, spelled + Math.ceil(digits * SYLLABLES_PER_DIGIT));
}
