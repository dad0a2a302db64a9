import { ServiceError } from "@parley/shared/errors";
import { doubling, persistently } from "@parley/shared/retry/persistently";
import { type Pcm, SAMPLES_PER_SECOND } from "../../audio/pcm.ts";
import { type Access, type Times, timesOf, unreachable } from "../access.ts";
import type { ListenOptions, SpeechEvent, SpeechStream, SpeechToText } from "../stt.ts";
import { soundDetector } from "./sound.ts";
import { transcribe } from "./transcribe.ts";
import { newUtterance } from "./utterance.ts";

/** Longer utterances are transcribed in parts. */
const UTTERANCE_SAMPLES_MAX = 30 * SAMPLES_PER_SECOND;
/** After this much silence the user may have finished: the words are requested before `finalize` asks for them. */
const PAUSE_SAMPLES = SAMPLES_PER_SECOND / 4;

/**
 * A server with OpenAI's operation, which transcribes files: an utterance is sent again as it grows, one request at a time, and as a
 * whole when the user pauses. Silence is not sent.
 */
export function customSpeechToText(access: Access, guardedFetch: typeof fetch): SpeechToText {
  return { endsTurns: false, listen: (options, heard) => listen(access, guardedFetch, options, heard) };
}

/** A transcript that was requested before the end of an utterance. */
interface Early {
  /** Null if the request failed. */
  text: Promise<string | null>;
  /** Whether it covers everything that was said. */
  isWhole: boolean;
  abort(): void;
}

function listen(
  access: Access,
  guardedFetch: typeof fetch,
  options: ListenOptions,
  heard: (event: SpeechEvent) => void,
): SpeechStream {
  const times = timesOf(access);
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  let language = options.language;
  const isSound = soundDetector();
  let utterance = newUtterance(isSound);
  /** Whether there was sound since the last request. */
  let isNew = false;
  let early: Early | null = null;
  /** Utterances that have ended, in order. */
  let finals: Promise<void> = Promise.resolve();

  const words = (audio: Pcm, until: AbortSignal) =>
    transcribe(access, guardedFetch, { audio, model: options.model, language }, until);
  const fail = (error: ServiceError) => {
    if (signal.aborted) return;
    close();
    heard({ type: "failed", error });
  };
  const askEarly = (isWhole: boolean) => {
    const audio = utterance.audio();
    if (!audio || signal.aborted) return;
    isNew = false;
    const aborted = new AbortController();
    // A failure can be ignored here: the next request, or the final one, reports it too.
    const text = words(audio, AbortSignal.any([signal, aborted.signal])).catch(() => null);
    const own: Early = { text, isWhole, abort: () => aborted.abort() };
    early = own;
    void text.then((found) => {
      if (early !== own) return;
      if (!own.isWhole) early = null;
      if (found) heard({ type: "partial", text: found });
    });
  };
  const endUtterance = (event: SpeechEvent | null) => {
    const { audio, next } = utterance.end();
    const asked = early?.isWhole ? early.text : null;
    if (!asked) early?.abort();
    early = null;
    utterance = next;
    isNew = next.audio() !== null;
    const find = async () => {
      if (!audio) return "";
      const known = await asked;
      return known ?? (await transcribed(() => words(audio, signal), times, signal));
    };
    finals = finals.then(async () => {
      try {
        const text = await find();
        if (signal.aborted) return;
        if (text !== "") heard({ type: "final", text });
        if (event) heard(event);
      } catch (error) {
        fail(error instanceof ServiceError ? error : unreachable(access.provider, "it sent no words that can be read"));
      }
    });
  };
  const timer = setInterval(() => {
    if (isNew && !early) askEarly(false);
  }, times.partialMs);
  const close = () => {
    clearInterval(timer);
    options.signal.removeEventListener("abort", close);
    over.abort();
  };
  options.signal.addEventListener("abort", close);

  return {
    send: (audio) => {
      if (signal.aborted) return;
      if (utterance.push(audio)) {
        isNew = true;
        // The user continued.
        if (early?.isWhole) {
          early.abort();
          early = null;
        }
      } else if (utterance.silentSamples() >= PAUSE_SAMPLES && !early?.isWhole && utterance.audio()) {
        early?.abort();
        askEarly(true);
      }
      if (utterance.samples() >= UTTERANCE_SAMPLES_MAX) endUtterance(null);
    },
    finalize: () => {
      if (!signal.aborted) endUtterance({ type: "finalized" });
    },
    setLanguage: (tag) => {
      language = tag;
    },
    close,
  };
}

/** @throws ServiceError when another attempt would not help, the last error when none helped in time; the signal's reason */
function transcribed<T>(work: () => Promise<T>, { retryMs, keepMs }: Times, signal: AbortSignal): Promise<T> {
  const until = performance.now() + keepMs;
  return persistently(work, {
    delaysMs: doubling(retryMs),
    goesOn: (error, delayMs) =>
      !(signal.aborted || error instanceof ServiceError || performance.now() + delayMs > until),
  });
}
