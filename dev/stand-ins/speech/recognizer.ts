import { ApiError } from "../openai-api.ts";
import { missingPocketSphinx } from "./pocketsphinx.ts";
import { openThread } from "./thread.ts";

export interface Recognizer {
  /** The words in the audio, 16,000 samples a second. @throws ApiError 503 where PocketSphinx is missing; the signal's reason */
  hear(audio: Int16Array, signal: AbortSignal): Promise<string>;
  /** Loads the model, which takes a second. */
  warm(): void;
  close(): void;
}

/** Two threads, so that the end of a sentence need not wait for the words so far. Each takes about 100 MB once it has heard something. */
const THREADS = 2;

/** @param missing says what to do if PocketSphinx is not installed; null if it is, which may come later */
export function openRecognizer(missing: () => string | null = missingPocketSphinx): Recognizer {
  const script = new URL("./pocketsphinx-thread.ts", import.meta.url);
  const threads = Array.from({ length: THREADS }, () => openThread<Int16Array, string>(script));
  const freest = () => threads.reduce((least, thread) => (thread.waiting() < least.waiting() ? thread : least));
  let isInstalled = false;
  const lacking = () => {
    const why = isInstalled ? null : missing();
    isInstalled = why === null;
    return why;
  };
  return {
    hear: async (audio, signal) => {
      const why = lacking();
      if (why) throw new ApiError(503, why, "speech_to_text_missing");
      return freest().ask(audio, signal);
    },
    warm: () => {
      if (lacking()) return;
      for (const thread of threads) if (thread.waiting() === 0) thread.ask(new Int16Array()).catch(() => {});
    },
    close: () => {
      for (const thread of threads) thread.close();
    },
  };
}
