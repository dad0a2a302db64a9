import type { AnsweredToolCall, ModelMessage } from "../../model/port.ts";

/**
 * Average UTF-8 bytes per token. A token is about four English letters, or one Chinese character of three bytes. Model
 * families differ by a quarter in both directions.
 */
const BYTES_PER_TOKEN = 4;
/** Tokens of a message in addition to its text. */
export const TOKENS_PER_MESSAGE = 4;
/** What a result is shortened to that has no room. */
const SHORT_CHARACTERS = 500;

/** Estimates a text's tokens. Exact counts differ between providers. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE;
}

/** The most bytes of text that can fit in `tokens`. */
export function byteBudget(tokens: number): number {
  return tokens * BYTES_PER_TOKEN;
}

/**
 * Returns the newest messages that fit beside the system prompt and the tools, always including the last ones
 * (docs/api-reference.md#what-the-model-sees). Where a message has no room, the results of its tool calls are shortened before it is
 * left out; calls and results stay together.
 * @param fixed the system prompt, and the definitions of the tools
 * @param needed how many messages are included in any case
 */
export function fitContext(
  fixed: string,
  messages: readonly ModelMessage[],
  maxTokens: number,
  needed = 1,
): ModelMessage[] {
  let left = maxTokens - estimateTokens(fixed);
  const kept: ModelMessage[] = [];
  for (const message of messages.toReversed()) {
    const whole = tokensOf(message);
    const fitting = whole <= left ? message : shortened(message);
    left -= fitting === message ? whole : tokensOf(fitting);
    if (left < 0 && kept.length >= needed) break;
    kept.push(fitting);
  }
  return kept.reverse();
}

function tokensOf(message: ModelMessage): number {
  const calls = callsOf(message);
  const ofCalls = calls.reduce((sum, { name, input, result }) => {
    return sum + estimateTokens(`${name}${JSON.stringify(input)}`) + estimateTokens(result);
  }, 0);
  return estimateTokens(message.content) + ofCalls;
}

function shortened(message: ModelMessage): ModelMessage {
  if (callsOf(message).length === 0) return message;
  return { ...message, toolCalls: callsOf(message).map(withShortResult) } as ModelMessage;
}

function withShortResult(call: AnsweredToolCall): AnsweredToolCall {
  if (call.result.length <= SHORT_CHARACTERS) return call;
  return {
    ...call,
    result: `${call.result.slice(0, SHORT_CHARACTERS).toWellFormed()}… (shortened, because there is no room)`,
  };
}

function callsOf(message: ModelMessage): readonly AnsweredToolCall[] {
  return (message.role === "assistant" && message.toolCalls) || [];
}
