import type { JsonObject } from "@parley/shared/json/json-object";
import { fieldsOf, type Heard, objectsIn, type Protocol, sumOfCounts, WORDS_MAX } from "./protocol.ts";

/** Anthropic's messages (https://docs.anthropic.com/en/docs/build-with-claude/streaming), which may get new events at any time. */
export const anthropic: Protocol = {
  eventCharactersMax: WORDS_MAX,
  endsOnce: true,
  listen: (heard) => (event, type) => EVENTS[String(event.type ?? type)]?.(event, heard),
};

type Meaning = (event: JsonObject, heard: Heard) => void;

const EVENTS: Readonly<Record<string, Meaning | undefined>> = {
  message_start: ({ message }, heard) => readUsage(fieldsOf(message).usage, heard),
  content_block_start: ({ index, content_block }, heard) => readBlock(fieldsOf(content_block), index, heard),
  content_block_delta: ({ index, delta }, heard) => {
    const { type, text, partial_json } = fieldsOf(delta);
    if (type === "text_delta") heard.text(text);
    else if (type === "input_json_delta") heard.tools.add(index, partial_json);
  },
  message_delta: ({ delta, usage }, heard) => {
    readUsage(usage, heard);
    heard.end(fieldsOf(delta).stop_reason);
  },
  message_stop: (_, heard) => heard.over(),
  error: (event, heard) => heard.fail(event.error ?? event),
  /** A whole answer. */
  message: ({ content, usage, stop_reason }, heard) => {
    for (const [at, block] of objectsIn(content).entries()) readBlock(block, at, heard);
    readUsage(usage, heard);
    heard.end(stop_reason);
  },
};

/** Thoughts and the provider's own tools are no part of the reply. */
function readBlock({ type, text, name, input }: JsonObject, place: unknown, heard: Heard): void {
  if (type === "text") heard.text(text);
  if (type !== "tool_use") return;
  heard.tools.begin(place, name);
  // Empty in a stream, where the pieces follow.
  if (Object.keys(fieldsOf(input)).length > 0) heard.tools.set(place, input);
}

/** Counts are cumulative, and those of the input leave out what came from the cache or went there. */
function readUsage(given: unknown, heard: Heard): void {
  const usage = fieldsOf(given);
  const { input_tokens: uncached, cache_read_input_tokens: cached, cache_creation_input_tokens: written } = usage;
  heard.usage({
    inputTokens: uncached === undefined ? undefined : sumOfCounts(uncached, cached, written),
    outputTokens: usage.output_tokens,
    cachedInputTokens: cached,
    cacheWriteTokens: written,
  });
}
