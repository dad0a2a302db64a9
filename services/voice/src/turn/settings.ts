/** How an agent takes turns; times in milliseconds. */
export interface TurnSettings {
  /** One model hears, answers and speaks, and takes turns by itself; `endsTurns` and `silenceMs` have no meaning then. */
  isSpeechToSpeech: boolean;
  /** Whether the speech recognition reports ends of turns by itself. */
  endsTurns: boolean;
  /** Silence that ends a turn whose words say nothing about its end. */
  silenceMs: number;
  /** Reminders for a user who says nothing; null if the agent waits. */
  idle: { afterMs: number; remindersMax: number } | null;
  /** Instead of FINALIZE_WAIT_MS. */
  finalizeWaitMs?: number;
}

/** What the agent says without a model. */
export interface Lines {
  reminder: string;
  /** Said when an answer takes long because of our own services; at most once in a call. */
  delay: string;
  /** Said after an answer that failed: the user may try again. */
  retry: string;
  /** Said after a transfer that failed. */
  not_transferred: string;
  /** Said before a call that cannot continue is hung up. */
  apology: string;
  /** Left on a machine that answers; empty: the agent hangs up. */
  voicemail: string;
  /** Said in place of everything else to a caller who is rejected; empty: the call goes on. */
  rejection: string;
}

export const SILENCE_MS = 500;
export const SILENCE_MIN_MS = 200;
export const SILENCE_MAX_MS = 3_000;

export const LINES: Lines = {
  reminder: "Are you still there?",
  delay: "One moment, please.",
  retry: "Sorry, something went wrong. Could you say that again?",
  not_transferred: "Sorry, I could not connect you. Can I help you with anything else?",
  apology: "I'm sorry, we are having technical difficulties. Please call again later. Goodbye.",
  voicemail: "",
  rejection: "",
};

/** How much speech of the user interrupts the agent. */
export const BARGE_IN_MS = 200;
/** How long after an interruption without words the agent continues. */
export const RESUME_MS = 2_000;
/** The same while the voice detector still hears speech and the recognition has not said what it is. */
export const RESUME_SPEAKING_MS = 5_000;
/** How long to wait for the answer to `finalize` before a turn ends with the words that are known. */
export const FINALIZE_WAIT_MS = 1_000;
/** The same in a test's call, whose outcome must not depend on how busy a machine is. */
export const FINALIZE_WAIT_TEST_MS = 10_000;
/** How long speech may continue without a word before the recognition is asked for its result. */
export const PROBE_MS = 5_000;
/** The same after the agent was stopped. */
export const PROBE_HELD_MS = 1_000;
/** Speech that is too short for the recognition to find words in it. */
export const BLIP_MS = 300;
/** Silence of the keys that ends what was pressed, as people look for the next digit. */
export const KEYS_PAUSE_MS = 2_000;
/** More keys than any number that people type. */
export const KEYS_MAX = 32;
/** How long a transfer may take. */
export const TRANSFER_MS = 30_000;
/** How long a machine that answered may take to finish its greeting. */
export const MACHINE_MS = 15_000;
/** How long nobody may be heard before the call is given up. */
export const DEAD_AIR_MS = 15_000;
/** How long an apology may take to be heard: its voice may be what does not work. */
export const APOLOGY_MS = 5_000;
/** How long it must be quiet before the agent tells a result that nobody waits for. */
export const RESULT_PAUSE_MS = 500;
/** How late a partial transcript is behind the voice. */
export const PARTIAL_LAG_MS = 400;
/** How long the recognition may take to be sure of words that were answered already. */
export const ANSWERED_MS = 5_000;
/** Backs up providers that end turns by themselves. */
export const PROVIDER_END_MS = 2_500;
/** How long a speech-to-speech model's last words may take to begin once it has decided to end the call. */
export const FAREWELL_MS = 5_000;
/** If such a model took a noise for the user, the call continues after this time. */
export const WORDS_WITHIN_MS = 5_000;
/** Speech of this length has words in it, so the model must react to it. */
export const SPEECH_MS = 1_000;
/** How often the model may miss that. */
export const IGNORED_MAX = 2;
/** Longer than people speak without a pause, such as music that the model took for the user. */
export const VOICE_MAX_MS = 30_000;
/** Silence, or time on hold, after which an agent without reminders hangs up. */
export const SILENT_CALL_MS = 600_000;
