import { expect, test } from "bun:test";
import fc from "fast-check";
import type { TurnEvent } from "./events.ts";
import { silenceAfter } from "./phrases.ts";
import { FINALIZE_WAIT_MS } from "./settings.ts";
import { initialState, type TurnState } from "./state.ts";
import { dueAt, takeTurn } from "./turn-taking.ts";

// A user who pauses within a turn, on a busy machine: the voice detector judges windows late and several at once, and the recognition
// answers late. Whatever the delays, the pauses are not ends.

const SILENCE_MS = 500;
const WINDOW_MS = 32;
/** The detector needs this much speech, and silence, to be sure. */
const BEGINS_MS = 2 * WINDOW_MS;
const ENDS_MS = 4 * WINDOW_MS;

interface Phrase {
  text: string;
  wordMs: number;
  /** As a share of the silence that would end the turn. */
  pause: number;
}

const phrase = fc.record<Phrase>({
  text: fc.constantFrom(
    "I would like to",
    "book a table",
    "my number is",
    "for two and",
    "Hello.",
    "on Sunday, please.",
  ),
  wordMs: fc.integer({ min: 200, max: 400 }),
  pause: fc.double({ min: 0, max: 0.98, noNaN: true }),
});
interface Scene {
  phrases: Phrase[];
  /** How late each window is judged; a later window is never judged first. */
  windowsLateMs: number[];
  /** How late the recognition answers a request. */
  wordsLateMs: number[];
}

const scene = fc.record<Scene>({
  phrases: fc.array(phrase, { minLength: 1, maxLength: 5 }),
  windowsLateMs: fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 1, maxLength: 40 }),
  wordsLateMs: fc.array(fc.integer({ min: 0, max: FINALIZE_WAIT_MS - 100 }), { minLength: 1, maxLength: 10 }),
});

interface Spoken {
  phrases: { fromMs: number; untilMs: number }[];
  words: { text: string; endMs: number }[];
  endMs: number;
}

/** What the user says, and when. Each pause is shorter than what would end the turn. */
function speak(phrases: readonly Phrase[]): Spoken {
  const spoken: Spoken = { phrases: [], words: [], endMs: 1_000 };
  let said = "";
  for (const { text, wordMs, pause } of phrases) {
    const fromMs = spoken.endMs;
    let untilMs = fromMs;
    for (const word of text.split(" ")) {
      untilMs += wordMs;
      spoken.words.push({ text: word, endMs: untilMs });
    }
    spoken.phrases.push({ fromMs, untilMs });
    said = `${said} ${text}`.trim();
    // The detector knows both ends to a window, and must have time to be sure that the user continues.
    spoken.endMs = untilMs + Math.max(0, pause * (silenceAfter(said, SILENCE_MS) - BEGINS_MS - 3 * WINDOW_MS));
  }
  spoken.endMs = spoken.phrases.at(-1)?.untilMs ?? 0;
  return spoken;
}

interface Arrival {
  at: number;
  event: TurnEvent | null;
  judgedUntil?: number;
}

/** The detector's judgements as they arrive. */
function judge({ phrases, endMs }: Spoken, lateMs: readonly number[]): Arrival[] {
  const isVoice = (at: number) => phrases.some(({ fromMs, untilMs }) => fromMs < at && at <= untilMs);
  const arrivals: Arrival[] = [];
  let isSpeech = false;
  let since = 0;
  let arrivesAt = 0;
  for (let index = 1, at = WINDOW_MS; at < endMs + 6_000; index++, at += WINDOW_MS) {
    if (isVoice(at) === isSpeech) since = at;
    arrivesAt = Math.max(arrivesAt, at + (lateMs[index % lateMs.length] ?? 0));
    const isSure = at - since >= (isSpeech ? ENDS_MS : BEGINS_MS);
    if (isSure) isSpeech = !isSpeech;
    const type = isSpeech ? ("speech_began" as const) : ("speech_ended" as const);
    const event = isSure ? { type, agoMs: arrivesAt - since } : null;
    if (isSure) since = at;
    arrivals.push({ at: arrivesAt, event, judgedUntil: at });
  }
  return arrivals;
}

/** Plays a scene until the agent asks its model. */
function play({ phrases, windowsLateMs, wordsLateMs }: Scene) {
  const spoken = speak(phrases);
  const waiting = judge(spoken, windowsLateMs);
  let state: TurnState = initialState(
    { isSpeechToSpeech: false, endsTurns: false, silenceMs: SILENCE_MS, idle: null },
    0,
  );
  let now = 0;
  let judgedUntil = 0;
  let reported = 0;
  let requests = 0;
  const lateMs = () => wordsLateMs[requests++ % wordsLateMs.length] ?? 0;
  const wordsBy = (at: number) => spoken.words.filter(({ endMs }) => endMs <= at).length;
  const textOf = (from: number, to: number) =>
    spoken.words
      .slice(from, to)
      .map(({ text }) => text)
      .join(" ");
  const arrive = (arrival: Arrival) => {
    const index = waiting.findIndex(({ at }) => at > arrival.at);
    waiting.splice(index < 0 ? waiting.length : index, 0, arrival);
  };
  /** When the recognition's answers so far arrive, in order. */
  let answeredAt = 0;
  const finalize = () => {
    const to = wordsBy(now);
    const text = textOf(reported, to);
    reported = to;
    answeredAt = Math.max(answeredAt, now + lateMs());
    if (text !== "") arrive({ at: answeredAt, event: { type: "final", text } });
    arrive({ at: answeredAt, event: { type: "finalized" } });
  };
  const happen = (event: TurnEvent): string | null => {
    const behindMs = Math.max(0, now - judgedUntil - 2 * WINDOW_MS);
    const { state: next, effects } = takeTurn(state, event, now, behindMs);
    state = next;
    for (const effect of effects) {
      if (effect.type === "ask") return effect.text;
      if (effect.type === "finalize") finalize();
    }
    return null;
  };
  happen({ type: "connected", greets: false });
  for (let first = waiting.shift(); first; first = waiting.shift()) {
    for (let due = dueAt(state); due !== null && Math.max(now + 10, due) <= first.at; due = dueAt(state)) {
      now = Math.max(now + 10, due);
      const asked = happen({ type: "time" });
      if (asked !== null) return { asked, at: now, spoken };
      if ((waiting[0]?.at ?? Number.POSITIVE_INFINITY) < first.at) break;
    }
    now = Math.max(now, first.at);
    const asked = first.event && happen(first.event);
    judgedUntil = first.judgedUntil ?? judgedUntil;
    if (asked !== null) return { asked, at: now, spoken };
  }
  return { asked: null, at: now, spoken };
}

test("however late windows and transcripts arrive, a pause that is shorter than the silence due ends no turn", () => {
  fc.assert(
    fc.property(scene, (given) => {
      const { asked, at, spoken } = play(given);
      expect(asked).toBe(given.phrases.map(({ text }) => text).join(" "));
      const dueMs = silenceAfter(asked ?? "", SILENCE_MS);
      expect(at).toBeGreaterThanOrEqual(spoken.endMs + dueMs - WINDOW_MS);
    }),
    { numRuns: 500 },
  );
});
