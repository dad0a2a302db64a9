import { latencyOf } from "../../ui/numbers.ts";
import type { ToolCall } from "../conversations/said.ts";
import { audibleAfter, partsOf, type SpokenLatency, UNFINISHED_NOTE } from "../conversations/waits.ts";
import type { Captioned } from "./captions.ts";

interface StoredMessage {
  role: string;
  content: string;
  latency?: SpokenLatency | undefined;
  tool_calls?: readonly ToolCall[] | undefined;
}

/** Adds to each line what is stored of the message that has its words, such as its latency; both are in the order of the call. */
export function withStored(lines: readonly Captioned[], messages: readonly StoredMessage[]): readonly Captioned[] {
  const next = { agent: 0, user: 0 };
  return lines.map((line) => {
    // What is still being said has no message yet.
    if (!line.isFinal) return line;
    const at = messages.findIndex(
      ({ role, content }, index) =>
        index >= next[line.from] && (role === "user") === (line.from === "user") && content === line.text,
    );
    const message = messages[at];
    if (!message) return line;
    next[line.from] = at + 1;
    const { latency, tool_calls: toolCalls } = message;
    if (!latency && !toolCalls) return line;
    return { ...line, ...(latency && { latency: describe(latency) }), ...(toolCalls && { toolCalls }) };
  });
}

function describe(latency: SpokenLatency): string {
  const total = audibleAfter({ latency });
  const parts = partsOf(latency).map(({ label, ms }) => `${label} ${latencyOf(ms)}`);
  const told = [total === null ? null : latencyOf(total), ...parts].filter((part) => part !== null).join(" · ");
  return latency.unfinished ? `${told}. ${UNFINISHED_NOTE}` : told;
}
