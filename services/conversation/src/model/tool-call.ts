import type { ToolCall } from "./port.ts";

/** A call of a tool as the model wrote it. @param input JSON, empty when the tool takes nothing */
export function toolCall(name: string, input: string): ToolCall {
  const json = input === "" ? "{}" : input;
  return { name, json, input: parseObject(json) };
}

function parseObject(json: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(json);
    const isObject = typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
    return isObject ? (parsed as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
