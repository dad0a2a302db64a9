import { DEAD_AIR_MS } from "../../turn/settings.ts";
import type { CallClock } from "../call-clock.ts";

/** The user of a call, as the model and the voice detector hear them. */
export interface User {
  /** The model hears the user. */
  begins(): void;
  /** The model has reported what the user said. */
  said(): void;
  /** The model no longer hears the user, or answers. */
  stops(): void;
  isSpeaking(): boolean;
  /** Whether the user has said anything so far. */
  hasSpoken(): boolean;
  /** The voice detector hears the beginning, or the end, of a voice that began or ended at this moment. */
  voiceBegins(at: number): void;
  /** @returns "speech" if it was long enough to have words in it; null if nothing had begun */
  voiceEnds(at: number): "speech" | "sound" | null;
  /** Speech has ended, and the model has reported nothing about it. */
  goesUnheard(): void;
  /** The model reacts, so it hears. */
  isHeard(): void;
  /** When to give up the model because it does not hear the user; null while it does. */
  unheardUntil(): number | null;
  /** When to assume that the model has heard no words; null while it does not hear the user. */
  wordlessAt(): number | null;
}

/** If the model took a noise for the user, the call continues after this time. */
const WORDS_WITHIN_MS = 5_000;
/** Speech of this length has words in it, so a model must react to it. */
const SPEECH_MS = 1_000;
const UNHEARD_MAX = 2;
/** Longer than people speak without a pause, such as music that the model took for the user. */
const VOICE_MAX_MS = 30_000;

export function userOf(clock: CallClock): User {
  /** Since when the model hears the user. */
  let speakingSince: number | null = null;
  let hasSpoken = false;
  let voiceSince: number | null = null;
  /** When the user's voice last ended. */
  let silentSince = 0;
  let unheard = { count: 0, since: 0 };

  return {
    begins: () => {
      speakingSince = clock.now();
    },
    said: () => {
      speakingSince = null;
      hasSpoken = true;
    },
    stops: () => {
      speakingSince = null;
    },
    isSpeaking: () => speakingSince !== null,
    hasSpoken: () => hasSpoken,
    voiceBegins: (at) => {
      voiceSince = at;
    },
    voiceEnds: (at) => {
      if (voiceSince === null) return null;
      const isSpeech = at - voiceSince >= SPEECH_MS;
      voiceSince = null;
      silentSince = clock.now();
      return isSpeech ? "speech" : "sound";
    },
    goesUnheard: () => {
      unheard = { count: unheard.count + 1, since: unheard.count === 0 ? clock.now() : unheard.since };
    },
    isHeard: () => {
      unheard = { count: 0, since: 0 };
    },
    unheardUntil: () => (unheard.count >= UNHEARD_MAX ? unheard.since + DEAD_AIR_MS : null),
    wordlessAt: () => {
      if (speakingSince === null) return null;
      if (voiceSince !== null) return Math.max(speakingSince, voiceSince) + VOICE_MAX_MS;
      return Math.max(speakingSince, silentSince) + WORDS_WITHIN_MS;
    },
  };
}
