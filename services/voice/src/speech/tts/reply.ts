import type { ServiceError } from "@parley/shared/errors";
import { durationMs, type Pcm, SAMPLES_PER_SECOND } from "../../audio/pcm.ts";
import { type Access, timesOf, unreachable } from "../access.ts";
import type { SpeakOptions, SpokenEvent, SpokenReply } from "../tts.ts";

/** One attempt to have a provider speak what is left of a reply. */
export interface Speaker {
  say(text: string): void;
  end(): void;
  /** Ends the request at once. */
  close(): void;
}

/** Events of a speaker. Characters, words and times refer to this speaker's text. */
export interface SpeakerEvents {
  audio(audio: Pcm): void;
  /** Resolves when there is room for more audio. Only for speakers that can make their provider wait. */
  room(): Promise<void>;
  /** The audio so far says this many characters. */
  spoken(characters: number): void;
  /** A word as it is written in the text, spoken until then. */
  word(word: string, endMs: number): void;
  done(): void;
  /** Another attempt would not help. */
  refused(error: ServiceError): void;
  /** Another attempt may help. @param why ends the sentence that the caller reads */
  lost(why: string): void;
}

/** Attempts for one reply. */
const ATTEMPTS_MAX = 3;
/** How far ahead to look for a word; further on it would be another one. */
const WORD_WITHIN_CHARACTERS = 80;

interface Position {
  characters: number;
  samples: number;
}

/**
 * A reply that continues when its connection is lost: another attempt speaks what had not been spoken, and what was already reported of
 * it is left out.
 */
export function reply(
  access: Access,
  open: (events: SpeakerEvents) => Speaker,
  { signal, room }: Pick<SpeakOptions, "signal" | "room">,
  spoken: (event: SpokenEvent) => void,
): SpokenReply {
  const times = timesOf(access);
  let text = "";
  let hasEnded = false;
  let isOver = false;
  let attempts = 0;
  let speaker: Speaker | null = null;
  /** Where this attempt began, and where it is known to have been. */
  let base: Position = { characters: 0, samples: 0 };
  let known: Position[] = [];
  /** Samples of the reply: received, with those that this attempt left out, and reported. */
  let received = 0;
  let reported = 0;
  let timedUntil = 0;
  /** The audio that is read next waits for room, so the provider is not late. */
  let isFull = false;
  let isExpected = false;
  let timer: Timer | undefined;
  let retryTimer: Timer | undefined;

  const stop = () => {
    isOver = true;
    clearTimeout(timer);
    clearTimeout(retryTimer);
    signal.removeEventListener("abort", stop);
    speaker?.close();
  };
  const finish = (event: SpokenEvent) => {
    if (isOver) return;
    stop();
    spoken(event);
  };
  /** Limits the wait for the audio of what was said, and after the last piece for all of it. */
  const expectAudio = () => {
    clearTimeout(timer);
    isExpected = true;
    if (!isOver && !isFull) timer = setTimeout(() => lost("it sent no audio in time"), times.stallMs);
  };
  const lost = (why: string) => {
    if (isOver) return;
    speaker?.close();
    speaker = null;
    if (attempts >= ATTEMPTS_MAX) return finish({ type: "failed", error: unreachable(access.provider, why) });
    // Only what was reported has been heard.
    base = known.findLast(({ samples }) => samples <= reported) ?? base;
    known = [];
    // Only the end was missing.
    if (hasEnded && reported > 0 && text.slice(base.characters).trim() === "") return finish({ type: "done" });
    retryTimer = setTimeout(attempt, times.retryMs);
  };
  const attempt = () => {
    attempts++;
    received = base.samples;
    const own = openGuarded();
    speaker = own;
    const rest = text.slice(base.characters);
    if (rest !== "") own.say(rest);
    if (hasEnded) own.end();
    if (rest !== "" || hasEnded) expectAudio();
  };

  const openGuarded = (): Speaker => {
    const mine = attempts;
    const start = base;
    const whenMine = <A extends unknown[]>(act: (...given: A) => void) => {
      return (...given: A) => {
        if (!isOver && mine === attempts) act(...given);
      };
    };
    return open({
      audio: whenMine((audio) => {
        // A provider that sends nothing has stalled, however often it does.
        if (audio.length === 0) return;
        const skipped = Math.min(Math.max(0, reported - received), audio.length);
        received += audio.length;
        if (skipped < audio.length) {
          reported += audio.length - skipped;
          spoken({ type: "audio", audio: audio.subarray(skipped) });
        }
        clearTimeout(timer);
        isExpected = false;
        if (hasEnded) expectAudio();
      }),
      room: async () => {
        const wait = room?.(signal);
        if (!wait) return;
        isFull = true;
        clearTimeout(timer);
        await wait;
        isFull = false;
        if (isExpected) expectAudio();
      },
      spoken: whenMine((characters) => {
        known.push({ characters: start.characters + characters, samples: received });
      }),
      word: whenMine((word, endMs) => {
        const from = Math.max(known.at(-1)?.characters ?? start.characters, start.characters);
        const at = text.indexOf(word, from);
        if (word === "" || at < 0 || at - from > WORD_WITHIN_CHARACTERS) return;
        const characters = at + word.length;
        known.push({ characters, samples: start.samples + Math.round((endMs / 1_000) * SAMPLES_PER_SECOND) });
        if (characters <= timedUntil) return;
        spoken({ type: "timing", text: text.slice(timedUntil, characters), endMs: durationMs(start.samples) + endMs });
        timedUntil = characters;
      }),
      done: whenMine(() => finish({ type: "done" })),
      refused: whenMine((error) => finish({ type: "failed", error })),
      lost: whenMine(lost),
    });
  };

  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  else attempt();

  return {
    say: (piece) => {
      if (isOver || hasEnded || piece === "") return;
      text += piece;
      speaker?.say(piece);
      expectAudio();
    },
    end: () => {
      if (isOver || hasEnded) return;
      hasEnded = true;
      if (text === "") return finish({ type: "done" });
      speaker?.end();
      expectAudio();
    },
  };
}
