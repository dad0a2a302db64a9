import { SILENCE_MAX_MS, SILENCE_MIN_MS } from "./settings.ts";

const ACKNOWLEDGEMENTS = new Set(
  (
    "mm|mmm|mhm|mmhm|hm|hmm|uhhuh|aha|ah|oh|uh|um|er|okay|ok|yeah|yep|yes|yup|right|sure|alright|got it|i see|good|great|" +
    "nice|cool|fine|true|exactly|of course|all right|uh huh|mm hm|mm hmm|mhmm"
  ).split("|"),
);
const FAREWELLS = new Set(
  "bye|bye bye|goodbye|good bye|thanks|thank you|thank you very much|thanks a lot|see you|take care|you too|have a good day|have a nice day|cheers".split(
    "|",
  ),
);
const ACKNOWLEDGEMENT_WORDS_MAX = 4;

/** Whether someone who says this only shows that they listen ("mm-hm", "okay"). */
export function isAcknowledgement(text: string): boolean {
  return consistsOf(text, (phrase) => ACKNOWLEDGEMENTS.has(phrase), ACKNOWLEDGEMENT_WORDS_MAX);
}

/** Whether someone who says this while the agent says goodbye lets it finish. */
export function isFarewell(text: string): boolean {
  return consistsOf(text, (phrase) => ACKNOWLEDGEMENTS.has(phrase) || FAREWELLS.has(phrase), 8);
}

/** Whether the words are nothing but phrases of up to four words. */
function consistsOf(text: string, isPhrase: (phrase: string) => boolean, wordsMax: number): boolean {
  const words = wordsOf(text);
  if (words.length === 0 || words.length > wordsMax) return false;
  for (let at = 0; at < words.length; ) {
    const length = [4, 3, 2, 1].find((n) => at + n <= words.length && isPhrase(words.slice(at, at + n).join(" ")));
    if (length === undefined) return false;
    at += length;
  }
  return true;
}

function wordsOf(text: string): string[] {
  const plain = text.normalize("NFKC").toLowerCase().replaceAll(/['’]/g, "");
  return plain.match(/[\p{L}\p{N}]+/gu) ?? [];
}

const ENDS_SENTENCE = /[\p{STerm}།༎]["'\p{Pe}\p{Pf}]*\s*$/u;
/** What people say just before they continue: a word that needs another, or the announcement of a number or a name. */
const UNFINISHED =
  /(?:\b(?:and|or|but|so|because|since|if|when|that|which|who|with|without|for|from|to|of|in|on|at|by|the|a|an|my|your|his|her|our|their|is|are|was|were|am|i|we|it's|um|uh|er|like)|\b(?:number|name|address|email|code|date|birthday|id|zip) is)[\s,…]*$/i;
const TRAILS_OFF = /(?:[,،、，၊፣:：…-]|\.\.\.)\s*$/;

/** Whether someone who has said this has plainly not finished: "my number is". */
export function isUnfinished(text: string): boolean {
  const said = text.trim();
  return TRAILS_OFF.test(said) || UNFINISHED.test(said.replace(/[.…]+$/, ""));
}

/**
 * Milliseconds of silence that end a turn in which this was said: fewer than usual after a whole sentence, more after an unfinished one.
 * @param silenceMs what is usual
 */
export function silenceAfter(text: string, silenceMs: number): number {
  if (isUnfinished(text)) return Math.min(SILENCE_MAX_MS, 3 * silenceMs);
  if (ENDS_SENTENCE.test(text)) return Math.max(SILENCE_MIN_MS, 0.6 * silenceMs);
  return silenceMs;
}
