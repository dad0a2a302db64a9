/** What the mock upstream says to everything, 60 words of it. */
export const WORDS = Array.from({ length: 10 }, () => ["of", "course", "we", "can", "do", "that"]).flat();
export const REPLY = WORDS.join(" ");
export const REPLY_PIECES = WORDS.map((word, at) => (at === 0 ? word : ` ${word}`));

/** What the prompt's variable is filled with, and the upstream insists on. */
export const COMPANY = "Acme";
export const MODEL = "bench";
/** The model that takes its time: a word every so many milliseconds. */
export const PACED_MODEL = "bench-paced";
export const WORD_EVERY_MS = 20;
