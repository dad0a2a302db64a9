import type { ModelRequest } from "./model/port.ts";

type Messages = ModelRequest["messages"];

/** Characters a token of ordinary text has on average; what a model family really counts differs by a quarter either way. */
const CHARACTERS_PER_TOKEN = 4;
/** What a message costs beyond its text. */
const TOKENS_PER_MESSAGE = 4;

/** An estimate, stated as such: exact counts differ from provider to provider. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN) + TOKENS_PER_MESSAGE;
}

/**
 * The newest messages that fit beside the system prompt, oldest dropped first; the last one always stays
 * (decisions.md: Chat).
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
