import type { JsonObject } from "@parley/shared/json/json-object";
import { type CallPiece, callPieces } from "./call-pieces.ts";
import { fieldsOf, type Heard, objectsIn, type Protocol, WORDS_MAX } from "./protocol.ts";

/**
 * OpenAI's chat completions (https://platform.openai.com/docs/api-reference/chat), which most model servers speak, each in its own
 * way. Reasoning (`reasoning_content`, `reasoning`, parts of type `thinking`) is no part of the reply.
 */
export const chatCompletions: Protocol = { eventCharactersMax: WORDS_MAX, endsOnce: true, listen };

function listen(heard: Heard): ReturnType<Protocol["listen"]> {
  const takePiece = callPieces(heard.tools);

  function readMessage(message: JsonObject, calls: readonly CallPiece[]): void {
    heard.text(textOf(message.content));
    // Takes the place of the content when the model refuses to answer.
    heard.text(message.refusal);
    for (const call of calls) takePiece(call);
    if (message.function_call) takePiece({ function: message.function_call });
  }

  /** A whole message, in which each tool call is one. */
  function readWhole(message: JsonObject): void {
    const calls = objectsIn(message.tool_calls).map((call, index) => ({ ...call, index }));
    readMessage(message, calls);
  }

  return (event) => {
    const [choice = {}] = objectsIn(event.choices);
    const error = errorOf(event) ?? errorOf(choice);
    if (error !== null) return heard.fail(error);
    readUsage(event.usage ?? fieldsOf(event.x_groq).usage ?? choice.usage, heard);
    const delta = fieldsOf(choice.delta);
    if (choice.delta) readMessage(delta, objectsIn(delta.tool_calls));
    // A whole answer; some streams repeat the reply in one at their end.
    else if (choice.message && !heard.hasBegun) readWhole(fieldsOf(choice.message));
    // The older completions, which some servers still send.
    else if (typeof choice.text === "string") heard.text(choice.text);
    heard.end(choice.finish_reason);
  };
}

/** The error that a server reports in place of an answer, or null. */
function errorOf(event: JsonObject): unknown {
  if (event.error) return event.error;
  return event.object === "error" || event.type === "error" || event.finish_reason === "error" ? event : null;
}

function textOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return objectsIn(content)
    .map(({ type = "text", text }) => (type === "text" && typeof text === "string" ? text : ""))
    .join("");
}

function readUsage(given: unknown, heard: Heard): void {
  const usage = fieldsOf(given);
  const details = fieldsOf(usage.prompt_tokens_details);
  heard.usage({
    inputTokens: usage.prompt_tokens,
    outputTokens: usage.completion_tokens,
    // DeepSeek and Mistral have names of their own.
    cachedInputTokens: details.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.num_cached_tokens,
    cacheWriteTokens: details.cache_write_tokens,
  });
}
