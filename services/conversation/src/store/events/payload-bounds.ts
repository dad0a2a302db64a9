/** Limit for a payload, JSON in UTF-8. With its envelope a delivery stays below 1 MiB, nginx's default body limit. */
export const PAYLOAD_BYTES_MAX = 1_000_000;

/** Limit for one message in a payload. Voice runtimes may not send longer ones, so only a model's reply is ever cut. */
export const MESSAGE_CHARACTERS_MAX = 100_000;

/**
 * Limit for the analysis in a payload, as JSON. The newest message, the notes and all other fields still fit, however
 * they are escaped.
 */
export const ANALYSIS_BYTES_MAX = 250_000;

/** Limit for the dynamic variables in a payload, as JSON; more are left out. */
export const VARIABLES_BYTES_MAX = 100_000;

/** The longest JSON escape of one byte, such as `\u0001`. */
export const ESCAPED_BYTES_MAX = 6;
