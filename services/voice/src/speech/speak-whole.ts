import type { Pcm } from "../audio/pcm.ts";
import type { SpeakOptions, TextToSpeech } from "./tts.ts";

interface WholeSpeech {
  sentences: Iterable<string>;
  options: Omit<SpeakOptions, "signal">;
  /** Takes the audio in order. @returns true when that is enough; throws to give up */
  take(audio: Pcm): boolean;
}

/**
 * Speaks sentences outside of a call, until all is spoken or enough of it.
 * @throws what the provider fails with, what `take` throws, the reason of `gone`
 */
export async function speakWhole(
  voice: TextToSpeech,
  { sentences, options, take }: WholeSpeech,
  gone: AbortSignal,
): Promise<void> {
  const over = new AbortController();
  const signal = AbortSignal.any([gone, over.signal]);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const leave = () => reject(gone.reason);
  gone.addEventListener("abort", leave, { once: true });
  try {
    gone.throwIfAborted();
    const reply = voice.speak({ ...options, signal }, (event) => {
      if (event.type === "done") resolve();
      if (event.type === "failed") reject(event.error);
      if (event.type !== "audio") return;
      try {
        if (take(event.audio)) resolve();
      } catch (error) {
        reject(error);
      }
    });
    for (const sentence of sentences) if (sentence !== "") reply.say(sentence);
    reply.end();
    await promise;
  } finally {
    gone.removeEventListener("abort", leave);
    over.abort();
  }
}
