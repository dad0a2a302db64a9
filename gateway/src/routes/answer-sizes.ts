/**
 * Limits that the services set for their responses; lists are limited to the bytes of a page
 * (`shared/src/db/bounded-page.ts`).
 */

/** A transcript of 4 MiB, and 1 MiB each of tool calls, metadata and variables. */
export const CONVERSATION_BYTES_MAX = 7 * 1024 * 1024;

/** 500,000 characters. */
export const PROMPT_BYTES_MAX = 2 * 1024 * 1024;
