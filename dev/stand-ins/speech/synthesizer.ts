import type { FliteRequest } from "./flite-thread.ts";
import type { SpeechRequest } from "./speech-request.ts";
import { openThread } from "./thread.ts";

export interface Synthesizer {
  /** Speaks sentence after sentence: samples, 16,000 a second. */
  speak(request: SpeechRequest): AsyncGenerator<Int16Array, void, undefined>;
  close(): void;
}

const SENTENCES = new Intl.Segmenter("en", { granularity: "sentence" });

export function openSynthesizer(): Synthesizer {
  const thread = openThread<FliteRequest, Int16Array>(new URL("./flite-thread.ts", import.meta.url));
  return {
    async *speak({ text, voice, speed }) {
      for (const { segment } of SENTENCES.segment(text)) {
        if (/[\p{L}\p{N}]/u.test(segment)) yield await thread.ask({ text: segment.trim(), voice, speed });
      }
    },
    close: thread.close,
  };
}
