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

/**
 * The thread is the only one, because each loads the model: half a second of CPU and 100 MB. The end of a sentence may therefore wait
 * until the words so far are recognized.
 * @param missing what to do if PocketSphinx is not installed
 */
export function openRecognizer(missing = missingPocketSphinx()): Recognizer {
  const thread = openThread<Int16Array, string>(new URL("./pocketsphinx-thread.ts", import.meta.url));
  let isWarm = false;
  return {
    hear: async (audio, signal) => {
      if (missing) throw new ApiError(503, missing, "speech_to_text_missing");
      return thread.ask(audio, signal);
    },
    warm: () => {
      if (missing || isWarm) return;
      isWarm = true;
      thread.ask(new Int16Array()).catch(() => {});
    },
    close: () => thread.close(),
  };
}
