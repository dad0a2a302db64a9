import type { components } from "../../api/gen/schema.ts";

export type ToolCall = components["schemas"]["ToolCall"];

/** A piece of a message, or a tool call between two. */
export type Said = { type: "text"; text: string } | { type: "call"; call: ToolCall };

/** A message with its tool calls where they were made. */
export function saidInOrder(content: string, calls: readonly ToolCall[]): Said[] {
  if (calls.length === 0) return content === "" ? [] : [{ type: "text", text: content }];
  // The API counts characters; some of them are two units of a string.
  const characters = [...content];
  const said: Said[] = [];
  let from = 0;
  for (const call of calls) {
    const to = Math.max(from, call.offset);
    said.push(...textOf(characters.slice(from, to)), { type: "call", call });
    from = to;
  }
  said.push(...textOf(characters.slice(from)));
  return said;
}

function textOf(characters: readonly string[]): Extract<Said, { type: "text" }>[] {
  const text = characters.join("").trim();
  return text === "" ? [] : [{ type: "text", text }];
}

/** Milliseconds from the request until the last tool that the model called before its first word had answered; 0 without tools. */
export function toolsBeforeFirstWord(calls: readonly ToolCall[]): number {
  const ends = calls.map(({ offset, started_ms, duration_ms }) =>
    offset === 0 && started_ms !== null ? started_ms + (duration_ms ?? 0) : 0,
  );
  return Math.max(0, ...ends);
}
