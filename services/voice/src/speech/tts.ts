import type { ServiceError } from "@parley/shared/errors";
import type { Pcm } from "../audio/pcm.ts";

/** A text-to-speech provider with its credentials. */
export interface TextToSpeech {
  /** Begins one reply. Connects at once, so begin it when the answer is requested, not when its first words arrive. */
  speak(options: SpeakOptions, spoken: (event: SpokenEvent) => void): SpokenReply;
}

export interface SpeakOptions {
  model?: string | undefined;
  voiceId: string;
  language?: string | undefined;
  /** 0.25 to 4; absent: 1. */
  speed?: number | undefined;
  params: Readonly<Record<string, unknown>>;
  /**
   * Resolves when the listener has room for more audio, or the signal aborts; null if it has. A response over HTTP is read no
   * further meanwhile. Absent: all audio is wanted at once.
   */
  room?: ((signal: AbortSignal) => Promise<void> | null) | undefined;
  /** Aborted when the reply is interrupted or the call ends: nothing is reported afterwards and the request ends. */
  signal: AbortSignal;
}

export interface SpokenReply {
  /** Appends a piece of the reply, a sentence or more. */
  say(text: string): void;
  /** No more pieces: `done` follows when the last audio has been reported. */
  end(): void;
}

export type SpokenEvent =
  /** The next audio of the reply. */
  | { type: "audio"; audio: Pcm }
  /**
   * When words are spoken: `text` is the next part of the reply as it was given to `say`, up to which everything is said at `endMs` of
   * the reply's audio. Only from providers that report it.
   */
  | { type: "timing"; text: string; endMs: number }
  | { type: "done" }
  /** Nothing follows. What was reported may be played. */
  | { type: "failed"; error: ServiceError };
