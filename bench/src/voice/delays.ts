/** The delays of the stand-in providers, in milliseconds, for any number of calls. */
export const DELAYS_MS = { transcript: 50, firstWord: 100, firstAudio: 50 } as const;
/** The silence after which a turn ends, as agents have it by default. */
export const SILENCE_MS = 500;
/**
 * What a caller waits for with any of the systems: the silence, the first word and the first audio. The transcript comes while the silence
 * lasts.
 */
export const WAITED_FOR_MS = SILENCE_MS + DELAYS_MS.firstWord + DELAYS_MS.firstAudio;

/** The model's answer to everything, and how long the voice takes to say it. */
export const REPLY = "We are open from nine to five on every day of the week, and on Sundays from ten to four.";
export const REPLY_MS = 2_500;
/** Without a mark at its end, after which a turn would end sooner. */
export const QUESTION = "what are your opening hours on Sunday please";
