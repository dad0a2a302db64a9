import type { ServiceError } from "@parley/shared/errors";
import type { Pcm } from "../audio/pcm.ts";

/** A speech-to-text provider with its credentials. */
export interface SpeechToText {
  /** Whether the provider reports the end of a turn; if not, the voice activity detector and `finalize` do. */
  endsTurns: boolean;
  /** Opens a stream for one call. It reopens lost sockets by itself and does not lose audio that arrives in the meantime. */
  listen(options: ListenOptions, heard: (event: SpeechEvent) => void): SpeechStream;
}

export interface ListenOptions {
  model: string;
  /** BCP 47 tag; absent if the provider decides. */
  language?: string | undefined;
  params: Readonly<Record<string, unknown>>;
  /** Aborted when the call ends. */
  signal: AbortSignal;
}

export interface SpeechStream {
  /** Sends what the user says. Never waits; keeps at most 10 s while the provider cannot take it. */
  send(audio: Pcm): void;
  /** The user seems to have finished: requests the final transcript of the audio so far. Answered by one `finalized`, in order. */
  finalize(): void;
  /** Changes the language from now on, if the provider can. */
  setLanguage(language: string): void;
  close(): void;
}

export type SpeechEvent =
  /** The words so far of what is being said; each replaces the previous one. */
  | { type: "partial"; text: string }
  /** Words that do not change anymore; the next partial begins after them. */
  | { type: "final"; text: string }
  /** The provider's own decision that the user has finished; only if `endsTurns`. */
  | { type: "end_of_turn" }
  /** The answer to `finalize` is complete, perhaps without any words. */
  | { type: "finalized" }
  /** Transcription cannot continue: reconnecting failed for as long as audio could be kept, or the provider refuses. Nothing follows. */
  | { type: "failed"; error: ServiceError };
