import type { ModelRequest } from "../../model/port.ts";

type Messages = ModelRequest["messages"];

/**
 * Average UTF-8 bytes per token. A token is about four English letters, or one Chinese character of three bytes. Model
 * families differ by a quarter in both directions.
 */
const BYTES_PER_TOKEN = 4;
/** Tokens of a message in addition to its text. */
export const TOKENS_PER_MESSAGE = 4;

/** Estimates a text's tokens. Exact counts differ between providers. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE;
}

/** The most bytes of text that can fit in `tokens`. */
export function byteBudget(tokens: number): number {
  return tokens * BYTES_PER_TOKEN;
}

/**
 * Returns the newest messages that fit beside the system prompt, always including the last one
 * (docs/api-reference.md#what-the-model-sees).
 */
export function fitContext(system: string, messages: Messages, maxTokens: number): Messages {
  let left = maxTokens - estimateTokens(system);
  let from = messages.length;
  while (from > 0) {
    left -= estimateTokens(messages[from - 1]?.content ?? "");
    if (left < 0 && from < messages.length) break;
    from--;
    if (left < 0) break;
  }
  return messages.slice(from);
}
