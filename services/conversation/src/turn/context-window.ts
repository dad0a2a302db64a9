import type { ModelRequest } from "../model/port.ts";

type Messages = ModelRequest["messages"];

/**
 * UTF-8 bytes a token has on average: English has four letters to a token, a Chinese character is three bytes and about one. What a
 * model family really counts differs by a quarter either way.
 */
const BYTES_PER_TOKEN = 4;
/** What a message costs beyond its text. */
export const TOKENS_PER_MESSAGE = 4;

/** An estimate, stated as such: exact counts differ from provider to provider. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE;
}

/** More text than so many bytes fits no context of `tokens`. */
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
