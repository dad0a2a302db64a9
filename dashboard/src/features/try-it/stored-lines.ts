import { latencyOf } from "../../ui/numbers.ts";
import type { ToolCall } from "../conversations/said.ts";
import { audibleAfter, partsOf, type SpokenLatency, UNFINISHED_NOTE } from "../conversations/waits.ts";
import type { Captioned, Line } from "./captions.ts";

interface StoredMessage {
  role: string;
  content: string;
  latency?: SpokenLatency | undefined;
  tool_calls?: readonly ToolCall[] | undefined;
}

/**
 * Adds to each line what is stored of the messages that have its words, such as their latency; both are in the order of the call. A tool
 * call that was told while it ran stays where it was told.
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
    const { found, end } = wordsIn(messages, line, next[line.from]);
    if (found.length === 0) return line;
    next[line.from] = end;
    const latency = found.find((message) => message.latency)?.latency;
    const calls = found.flatMap(({ tool_calls: calls = [] }) => calls);
    const toolCalls = calls.filter((call) => !told.has(call.tool_call_id));
    return { ...line, ...(latency && { latency: describe(latency) }), ...(toolCalls.length > 0 && { toolCalls }) };
  });
}

/** The first messages from `from` on that together have the words of a line: what was said while a tool ran is one of its own. */
function wordsIn(messages: readonly StoredMessage[], { from: side, text }: Captioned, from: number) {
  for (let begin = from; begin < messages.length; begin++) {
    let words = "";
    for (let end = begin; end < messages.length && text.startsWith(words); end++) {
      const { role, content } = messages[end] as StoredMessage;
      if ((role === "user") !== (side === "user")) break;
      words = words === "" ? content : `${words} ${content}`;
      if (words === text) return { found: messages.slice(begin, end + 1), end: end + 1 };
    }
  }
  return { found: [], end: from };
}

function describe(latency: SpokenLatency): string {
  const total = audibleAfter({ latency });
  const parts = partsOf(latency).map(({ label, ms }) => `${label} ${latencyOf(ms)}`);
  const told = [total === null ? null : latencyOf(total), ...parts].filter((part) => part !== null).join(" · ");
  return latency.unfinished ? `${told}. ${UNFINISHED_NOTE}` : told;
}
