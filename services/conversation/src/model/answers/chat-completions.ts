import type { JsonObject } from "@parley/shared/json/json-object";
import type { CalledTools } from "./called-tools.ts";
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

/** A tool call of chat completions, or a piece of one. */
interface CallPiece {
  index?: unknown;
  id?: unknown;
  function?: unknown;
}

interface OpenCall {
  place: number;
  id: unknown;
  name: unknown;
}

/**
 * Tells apart the tool calls of chat completions, which servers stream in pieces or whole, numbered or not, with and without ids.
 * The first row that fits decides:
 *
 * | A piece with                                           | Is                                                           |
 * | ------------------------------------------------------ | ------------------------------------------------------------ |
 * | a new index, and a name or a new id                    | a new call                                                   |
 * | a new id and a name                                    | a new call, because some servers number all calls 0          |
 * | a new id and no name                                   | more of the call of its index: some servers make an id a piece |
 * | another name than the call of its id, or of its index  | a new call                                                   |
 * | the same name and arguments that begin anew            | a new call, or the same one repeated                         |
 * | anything else                                          | more of the call of its id, of its index, or of the last one |
 */
function callPieces(tools: CalledTools): (piece: CallPiece) => void {
  const byIndex = new Map<string, OpenCall>();
  const byId = new Map<unknown, OpenCall>();
  let calls = 0;
  let last: OpenCall | undefined;

  function knownCall(index: string | null, id: unknown, name: unknown): OpenCall | undefined {
    const ofId = id ? byId.get(id) : undefined;
    if (index === null) return ofId ?? last;
    const ofIndex = byIndex.get(index);
    if (ofIndex) return ofId ?? ofIndex;
    if (name) return undefined;
    return ofId ?? (id ? undefined : last);
  }

  function goesOn(call: OpenCall, id: unknown, name: unknown, args: unknown): boolean {
    if (id && call.id && id !== call.id) return !name;
    if (!name || !call.name) return true;
    return name === call.name && !beginsAnew(tools.argumentsOf(call.place), args);
  }

  function begin(): OpenCall {
    const call = { place: calls++, id: undefined, name: undefined };
    tools.begin(call.place);
    return call;
  }

  return (piece) => {
    const { index: given, id } = piece;
    const { name, arguments: args } = fieldsOf(piece.function ?? piece);
    const index = given === undefined || given === null ? null : String(given);
    const known = knownCall(index, id, name);
    const isNamedAgain = known && name === known.name && (!id || !known.id || id === known.id);
    if (isNamedAgain && name && args !== "" && args === tools.argumentsOf(known.place)) return;
    const call = known && goesOn(known, id, name, args) ? known : begin();
    if (index !== null) byIndex.set(index, call);
    if (id) byId.set(id, call);
    call.id ||= id;
    call.name ||= name;
    tools.name(call.place, name);
    // Some servers begin with an empty object, and let the arguments follow.
    if (tools.argumentsOf(call.place) === "{}") tools.set(call.place, args);
    else tools.add(call.place, args);
    last = call;
  };
}

/** Whether these arguments cannot go on with those so far: one JSON object follows another. */
function beginsAnew(sofar: string, args: unknown): boolean {
  if (!sofar.trimEnd().endsWith("}")) return false;
  return typeof args === "string" ? args.startsWith("{") : typeof args === "object" && args !== null;
}
