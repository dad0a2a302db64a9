import type { JsonObject } from "@parley/shared/json/json-object";
import { fieldsOf, type Heard, objectsIn, type Protocol } from "./protocol.ts";

/**
 * OpenAI's Responses (https://platform.openai.com/docs/api-reference/responses-streaming). Servers repeat the reply in further
 * events, and some send it only there: those count when no words came in pieces.
 */
export const responses: Protocol = { eventCharactersMax: 8 * 1024 * 1024, endsOnce: true, listen };

function listen(heard: Heard): ReturnType<Protocol["listen"]> {
  /** Where the items stand in the output, by their ids: events name an item by either, or both. */
  const places = new Map<unknown, unknown>();
  let cameInPieces = false;

  function placeOf({ output_index, item_id, item }: JsonObject): unknown {
    const id = item_id ?? fieldsOf(item).id;
    return places.get(id) ?? output_index ?? id;
  }

  function hear({ delta }: JsonObject): void {
    cameInPieces = true;
    heard.text(delta);
  }

  function readItem(item: JsonObject, place: unknown): void {
    if (item.type === "function_call") {
      if (!heard.tools.has(place)) heard.tools.begin(place, item.name);
      heard.tools.set(place, item.arguments);
    } else if (item.type === "message" && !cameInPieces) {
      for (const { text, refusal } of objectsIn(item.content)) heard.text(text ?? refusal);
    }
  }

  /** Whether the stream has begun this call; its arguments may still be missing. */
  function isKnownCall({ type, id }: JsonObject): boolean {
    return type === "function_call" && places.has(id);
  }

  /** Reads the end of a stream, or a whole answer. */
  function readResponse(response: JsonObject): void {
    const { status, error, incomplete_details, output } = response;
    if (error || status === "failed") {
      heard.fail(error ?? response);
      return;
    }
    const usage = fieldsOf(response.usage);
    const details = fieldsOf(usage.input_tokens_details);
    heard.usage({
      inputTokens: usage.input_tokens,
      outputTokens: usage.output_tokens,
      cachedInputTokens: details.cached_tokens,
      cacheWriteTokens: details.cache_write_tokens,
    });
    const isOnlyHere = !heard.hasBegun;
    for (const [at, item] of objectsIn(output).entries())
      if (isOnlyHere || isKnownCall(item)) readItem(item, places.get(item.id) ?? at);
    const isWhole = status === "completed" || status === undefined;
    heard.end(isWhole ? "completed" : (fieldsOf(incomplete_details).reason ?? status));
    heard.over();
  }

  const events: Readonly<Record<string, ((event: JsonObject) => void) | undefined>> = {
    "response.output_item.added": (event) => {
      const item = fieldsOf(event.item);
      const place = placeOf(event);
      places.set(item.id, place);
      if (item.type === "function_call") readItem(item, place);
    },
    "response.output_text.delta": hear,
    "response.refusal.delta": hear,
    "response.function_call_arguments.delta": (event) => heard.tools.add(placeOf(event), event.delta),
    "response.function_call_arguments.done": (event) => heard.tools.set(placeOf(event), event.arguments),
    "response.output_item.done": (event) => readItem(fieldsOf(event.item), placeOf(event)),
    "response.completed": ({ response }) => readResponse({ status: "completed", ...fieldsOf(response) }),
    "response.incomplete": ({ response }) => readResponse({ ...fieldsOf(response), status: "incomplete" }),
    "response.cancelled": ({ response }) => readResponse({ ...fieldsOf(response), status: "cancelled" }),
    "response.failed": ({ response }) => readResponse({ ...fieldsOf(response), status: "failed" }),
    error: (event) => heard.fail(event.error ?? event),
  };

  return (event, type) => {
    if (event.type === undefined && Array.isArray(event.output)) return readResponse(event);
    if (event.type === undefined && event.error) return heard.fail(event.error);
    events[String(event.type ?? type)]?.(event);
  };
}
