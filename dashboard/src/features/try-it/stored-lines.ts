import { latencyOf } from "../../ui/numbers.ts";
import type { ToolCall } from "../conversations/said.ts";
import { audibleAfter, partsOf, type SpokenLatency, UNFINISHED_NOTE } from "../conversations/waits.ts";
import type { Line } from "./captions.ts";

interface StoredMessage {
  role: string;
  content: string;
  latency?: SpokenLatency | undefined;
  tool_calls?: readonly ToolCall[] | undefined;
}

/**
 * Adds to each line what is stored of the message that has its words, such as its latency; both are in the order of the call. A tool call
 * that was told while it ran stays where it was told.
 */
export function withStored(lines: readonly Line[], messages: readonly StoredMessage[]): readonly Line[] {
  const next = { agent: 0, user: 0 };
  const stored = new Map(
    messages.flatMap(({ tool_calls: calls = [] }) => calls).map((call) => [call.tool_call_id, call]),
  );
  const told = new Set(lines.map((line) => (line.from === "tool" ? line.call.tool_call_id : "")));
  return lines.map((line) => {
    if (line.from === "tool") {
      const call = stored.get(line.call.tool_call_id);
      return call ? { ...line, call, waitsMs: call.status === "RUNNING" ? line.waitsMs : null } : line;
    }
    // What is still being said has no message yet.
    if (!line.isFinal) return line;
    const at = messages.findIndex(
      ({ role, content }, index) =>
        index >= next[line.from] && (role === "user") === (line.from === "user") && content === line.text,
    );
    const message = messages[at];
    if (!message) return line;
    next[line.from] = at + 1;
    const { latency, tool_calls: calls = [] } = message;
    const toolCalls = calls.filter((call) => !told.has(call.tool_call_id));
    return { ...line, ...(latency && { latency: describe(latency) }), ...(toolCalls.length > 0 && { toolCalls }) };
  });
}

function describe(latency: SpokenLatency): string {
  const total = audibleAfter({ latency });
  const parts = partsOf(latency).map(({ label, ms }) => `${label} ${latencyOf(ms)}`);
  const told = [total === null ? null : latencyOf(total), ...parts].filter((part) => part !== null).join(" · ");
  return latency.unfinished ? `${told}. ${UNFINISHED_NOTE}` : told;
}
