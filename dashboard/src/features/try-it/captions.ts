import type { ToolCall } from "../conversations/said.ts";

/** What the agent reports during a call (docs/calls.md#the-data-channel). */
export type Caption =
  | { type: "state"; state: "listening" | "thinking" | "speaking" }
  | { type: "user" | "agent"; text: string; is_final: boolean };

/** The words of one side between two pauses. */
export interface Captioned {
  id: number;
  from: "agent" | "user";
  text: string;
  isFinal: boolean;
  /** What the answer took; "" until it is known. */
  latency: string;
  /** The tools that the model called, once they are known. */
  toolCalls?: readonly ToolCall[];
}

type Said = Exclude<Caption, { type: "state" }>;

/** Adds what was said. A text that is not final is replaced by the next of the same side. */
export function caption(
  lines: readonly Captioned[],
  { type: from, text, is_final: isFinal }: Said,
): readonly Captioned[] {
  const last = lines.findLast((line) => line.from === from && !line.isFinal);
  if (last) return lines.map((line) => (line === last ? { ...line, text, isFinal } : line));
  if (text === "") return lines;
  return [...lines, { id: (lines.at(-1)?.id ?? 0) + 1, from, text, isFinal, latency: "" }];
}
