import { parseObject } from "@parley/shared/json/json-object";
import type { ToolCall } from "./port.ts";

/** The most tool calls in one answer: each is run, and returns to the model with its result. */
export const TOOL_CALLS_MAX = 128;
/** Limit for the names and arguments of an answer's tool calls together. */
export const TOOL_CALL_CHARACTERS_MAX = 64 * 1024;

/** Bounds the tool calls of one answer. Both functions throw an Error for an answer that cannot be read. */
export interface ToolCallBounds {
  /** Counts a call. */
  begin(): void;
  /** Counts a part of a name or of arguments. @returns the text, empty for one that the model left out */
  text(given: unknown): string;
}

export function toolCallBounds(): ToolCallBounds {
  let calls = 0;
  let characters = 0;
  return {
    begin() {
      if (++calls > TOOL_CALLS_MAX) throw new Error("an answer with too many tool calls");
    },
    text(given) {
      const text = given ?? "";
      if (typeof text !== "string") throw new Error("a tool call whose name or arguments are not text");
      characters += text.length;
      if (characters > TOOL_CALL_CHARACTERS_MAX) throw new Error("an answer whose tool calls are too long");
      return text;
    },
  };
}

/** A call of a tool as the model wrote it. @param input JSON, empty when the tool takes nothing */
export function toolCall(name: string, input: string): ToolCall {
  const json = input === "" ? "{}" : input;
  return { name, json, input: parseObject(json) };
}
