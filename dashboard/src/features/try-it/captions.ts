import type { ToolCall } from "../conversations/said.ts";
import { answeredBy, begunCall, type GivenResult, givenBy, type LiveCall } from "./live-calls.ts";

/** What the agent reports during a call (docs/calls.md#the-data-channel). */
export type Caption =
  | { type: "state"; state: "listening" | "thinking" | "speaking" }
  | { type: "user" | "agent"; text: string; is_final: boolean }
  | ToolNews;

/** Of a tool that the model calls; those of `client_call` are for the page to make. */
type ToolNews =
  | { type: "tool_call"; tool_call_id: string; name: string; arguments: object }
  | { type: "client_call"; tool_call_id: string; name: string; arguments: object; timeout_ms?: number }
  | { type: "tool_result"; tool_call_id: string; result: string; is_error: boolean }
  | { type: "error"; tool_call_id?: string; detail: string };

/** What happens in a call, in order. */
export type Line = Captioned | CalledLine;

export interface CalledLine {
  id: number;
  from: "tool";
  call: LiveCall;
  /** How many milliseconds the agent waits for its result, which the person is asked for; null if it does not. */
  waitsMs: number | null;
}

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

type Said = Extract<Caption, { type: "user" | "agent" }>;

/** Adds what is told of the call. */
export function withNews(lines: readonly Line[], news: Said | ToolNews): readonly Line[] {
  switch (news.type) {
    case "tool_call":
      return withCall(lines, news);
    case "client_call":
      return changed(withCall(lines, news), news.tool_call_id, (line) => ({
        ...line,
        waitsMs: news.timeout_ms ?? null,
      }));
    case "tool_result":
      return changed(lines, news.tool_call_id, (line) => ({
        ...line,
        waitsMs: null,
        call: answeredBy(news)(line.call),
      }));
    case "error":
      return changed(lines, news.tool_call_id, (line) => ({ ...line, waitsMs: null }));
    default:
      return caption(lines, news);
  }
}

/** Adds what the person gave as the result of a call. */
export function withGiven(lines: readonly Line[], toolCallId: string, given: GivenResult): readonly Line[] {
  const call = givenBy(toolCallId, given);
  return changed(lines, toolCallId, (line) => ({ ...line, waitsMs: null, call: call(line.call) }));
}

/** Adds what was said. A text that is not final is replaced by the next of the same side. */
function caption(lines: readonly Line[], { type: from, text, is_final: isFinal }: Said): readonly Line[] {
  const last = lines.findLast((line) => line.from === from && !line.isFinal);
  if (last) return lines.map((line) => (line === last ? { ...line, text, isFinal } : line));
  if (text === "") return lines;
  return [...lines, { id: nextId(lines), from, text, isFinal, latency: "" }];
}

function withCall(lines: readonly Line[], call: Parameters<typeof begunCall>[0]): readonly Line[] {
  if (lines.some((line) => line.from === "tool" && line.call.tool_call_id === call.tool_call_id)) return lines;
  return [...lines, { id: nextId(lines), from: "tool", call: begunCall(call, ""), waitsMs: null }];
}

function changed(
  lines: readonly Line[],
  toolCallId: string | undefined,
  change: (line: CalledLine) => CalledLine,
): readonly Line[] {
  return lines.map((line) => (line.from === "tool" && line.call.tool_call_id === toolCallId ? change(line) : line));
}

function nextId(lines: readonly Line[]): number {
  return (lines.at(-1)?.id ?? 0) + 1;
}
