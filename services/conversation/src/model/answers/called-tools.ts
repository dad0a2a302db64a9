import { isObject, parseObject } from "@parley/shared/json/json-object";
import { storable } from "../../store/storable.ts";
import type { ToolCall } from "../port.ts";

/** The most tool calls in one answer: each is run, and returns to the model with its result. */
export const TOOL_CALLS_MAX = 128;
/** Limit for the names and arguments of an answer's tool calls together. */
export const TOOL_CALL_CHARACTERS_MAX = 64 * 1024;

/**
 * The tool calls of one answer, each in a place that the protocol chooses. Pieces for a place where no call has begun are ignored.
 * The functions throw an Error for calls that are too many or too long.
 */
export interface CalledTools {
  begin(place: unknown, name?: unknown): void;
  has(place: unknown): boolean;
  /** Names a call that has no name yet. */
  name(place: unknown, name: unknown): void;
  /** Adds to a call's arguments: a piece of their JSON, or an object, which is all of them. */
  add(place: unknown, args: unknown): void;
  /** Replaces a call's arguments by all of them, if there are any. */
  set(place: unknown, args: unknown): void;
  /** The arguments of a call so far. */
  argumentsOf(place: unknown): string;
  readonly size: number;
  /** The calls in order, without those that never got a name. */
  list(): ToolCall[];
}

export function calledTools(): CalledTools {
  const calls = new Map<unknown, { name: string; json: string }>();
  let characters = 0;

  function counted(text: string): string {
    characters += text.length;
    if (characters > TOOL_CALL_CHARACTERS_MAX) throw new Error("an answer whose tool calls are too long");
    return text;
  }

  const tools: CalledTools = {
    begin(place, name) {
      if (calls.size === TOOL_CALLS_MAX) throw new Error("an answer with too many tool calls");
      calls.set(place, { name: "", json: "" });
      tools.name(place, name);
    },
    has: (place) => calls.has(place),
    name(place, name) {
      const call = calls.get(place);
      if (call && typeof name === "string") call.name ||= counted(name);
    },
    add(place, args) {
      const call = calls.get(place);
      if (typeof args !== "string") tools.set(place, args);
      else if (call) call.json += counted(args);
    },
    set(place, args) {
      const call = calls.get(place);
      const json = typeof args === "string" ? args : isObject(args) ? JSON.stringify(args) : "";
      if (!call || json === "") return;
      characters -= call.json.length;
      call.json = counted(json);
    },
    argumentsOf: (place) => calls.get(place)?.json ?? "",
    get size() {
      return calls.size;
    },
    list: () => [...calls.values()].filter(({ name }) => name !== "").map(({ name, json }) => toolCall(name, json)),
  };
  return tools;
}

/** What models write instead of no arguments. */
const NO_ARGUMENTS: readonly string[] = ["", "null", "[]", '""'];

function toolCall(name: string, written: string): ToolCall {
  const json = NO_ARGUMENTS.includes(written.trim()) ? "{}" : written;
  return { name: storable(name), json, input: parseObject(json) ?? parseObject(unquoted(json)) };
}

/** The text in a JSON string: some models write the JSON of their arguments as one. */
function unquoted(json: string): string {
  if (!json.startsWith('"')) return "";
  try {
    return String(JSON.parse(json));
  } catch {
    return "";
  }
}
