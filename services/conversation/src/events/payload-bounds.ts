/**
 * Bytes of a payload: JSON in UTF-8, as it is sent. With the form around it a delivery stays below 1 MiB, the longest body that nginx
 * accepts unless it is configured otherwise.
 */
export const PAYLOAD_BYTES_MAX = 1_000_000;

/** Characters of one message in a payload: as many as a voice runtime may send, so only a model's reply is ever longer. */
export const MESSAGE_CHARACTERS_MAX = 100_000;

/**
 * Bytes of the analysis in a payload, as JSON. The newest message, the notes and everything else fit beside it, however they are
 * escaped.
 */
export const ANALYSIS_BYTES_MAX = 250_000;

/** What JSON makes of one byte at most: `\u0001`. */
export const ESCAPED_BYTES_MAX = 6;
